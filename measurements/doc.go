// Package measurements turns runs into numbers and keeps both.
//
// It is opinionated about what a number may hide. An answer that never came is
// not silence; nothing is divided by zero into a 0 or a 1; the run-level
// measurement j and the ensemble's j_vote are never mixed; a rate carries its
// interval, its denominator and what did not count. A capture's Parquet files
// are projections: written whole or not at all, and every total is recomputed
// from their rows.
package measurements
