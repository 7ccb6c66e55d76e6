// Package conformance proves youden against software that others wrote: OpenAI's
// own clients and schema against the simulated endpoint, and youden's client
// against a proxy that breaks connections, a scripted mock of the hosted API and a
// server with a real language model behind it.
//
// It is opinionated about what a proof is. Both ends run as a user would run them,
// the command youden as a process of its own; what the other party is not at hand
// for is skipped with a printed reason and never passes silently; and outcomes are
// asserted (statuses, rows, totals), not how many attempts a client needed.
//
// It is a module of its own, so that the pinned third parties are no dependencies
// of youden, and it lies in a folder that `go test ./...` does not look into.
package conformance
