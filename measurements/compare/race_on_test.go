//go:build race

package compare

// raced says that the race detector slows everything down some ten times.
const raced = true
