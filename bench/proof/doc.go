// Package proof runs the two sides of a planted pair to show that the label is
// right: the vulnerable side does what it must not, the fixed side does not,
// and both still do what they are for.
//
// It is opinionated about the oracle. Each trial plants a fresh random token
// and gives the harness of the case only the file that holds it. An exploit is
// believed when the token comes back and stood nowhere in the payload: an exit
// code proves nothing, and a side that echoes its input must not pass for one
// that obeys it (spec/detector-lessons.md 6, defect 6). A benign input has to
// bring the token back from where it may be read, on both sides alike, so that
// a fixed side which refuses everything is no proof either.
//
// What a harness looks like stands in fixtures/PROOFS.md.
package proof
