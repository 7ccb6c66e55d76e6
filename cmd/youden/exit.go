package main

import (
	"errors"
	"fmt"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/measurements/compare"
)

// Exit codes, one table here and in the README. Scripts rely on them.
const (
	exitPass         = 0
	exitRegression   = 1   // regression or gate failed
	exitUsage        = 2   // usage or load error
	exitInconclusive = 3   // too little data to say
	exitIncomparable = 4   // the two sides cannot be compared
	exitIncomplete   = 5   // unrun, partial, or error rate exceeded
	exitBudget       = 6   // budget refused or spent, resumable
	exitRateLimited  = 7   // rate-limited or quota, resumable
	exitInternal     = 70  // internal error
	exitInterrupted  = 130 // interrupted, resumable
)

// exitError carries the exit code of an outcome that is no usage error. A nil
// Err prints nothing: the output has said it already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitCode maps an error of a command to the process's exit code. What no command
// has classified goes by its kind, whichever command met it; anything else is a usage
// or load error.
func exitCode(err error) int {
	if err == nil {
		return exitPass
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	for _, kind := range errorCodes {
		if kind.is(err) {
			return kind.code
		}
	}
	return exitUsage
}

// errorCodes are the exit codes of the kinds of errors, the gravest first.
var errorCodes = []struct {
	is   func(error) bool
	code int
}{
	{isA[*bench.InternalError], exitInternal},
	{isA[*bench.BudgetError], exitBudget},
	{isA[*bench.IncomparableError], exitIncomparable},
	{isA[*compare.OtherScoringError], exitIncomparable},
}

// isA reports whether an error is, or wraps, one of a kind.
func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
