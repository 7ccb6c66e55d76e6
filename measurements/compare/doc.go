// Package compare says whether a capture got worse than another one, and is
// opinionated about what may be called worse. Cases are the clusters and are
// paired by their hashes, on those that both captures scored; a run-level test
// speaks of these cases only and may warn, never fail; recall and silence are
// looked at beside J, so that a detector that flags everything, or nothing,
// cannot pass; and few data are no verdict but a smallest drop that would have
// been found. The rules and the simulations behind them: spec/statistics.md
// sections 1 to 3.
package compare
