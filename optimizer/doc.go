// Package optimizer is the room of the search for better detector text: pure
// algorithms over instances, candidates and scores, which import none of the
// bench. It is opinionated about honesty: the holdout takes no part in a
// decision, and what a search may spend is checked before it is spent.
package optimizer
