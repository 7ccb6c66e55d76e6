// Package kstrl compares baselines by the rules of kstrl 0.2.0, bit for bit.
//
// It is opinionated about one thing: a number that once failed somebody's CI
// must fail here at the same bit. Rates are recomputed from the counts, summed
// left to right in file order without compensation (as CPython up to 3.11 does),
// and held against strict limits without a tolerance: 1.00 to 0.85 is a drop of
// more than 0.15, 0.95 to 0.80 is not. The rules ignore false positives, accept
// a file without fixtures and have no notion of chance; use them to reproduce a
// verdict, not to form one.
//
// The reading of a file knows two modes. [Lenient] accepts what the reference
// accepts and says so in the baseline's Warnings, which stand apart from the
// warnings of the rules; [Strict] refuses a file whose counts cannot be true.
// What makes the reference crash, and so exit as if it had found a regression,
// is a [LoadError] in both.
//
// Four things that the reference takes are refused here in both modes, because
// nobody writes them: a list or an object as a name, a count of 2^52 or more, a
// count in text with digits outside ASCII, and the literals NaN and Infinity,
// which are not JSON.
package kstrl
