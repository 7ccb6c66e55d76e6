package proof

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/youden-bench/youden/corpus"
)

// Status is how a proof ended.
type Status string

// The statuses. A skipped proof says nothing about its pair.
const (
	Proved  Status = "proved"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Result is the proof of one pair.
type Result struct {
	Case     string  `json:"case"`
	Family   string  `json:"family"`
	Language string  `json:"language"`
	Tool     string  `json:"tool"` // that runs it, such as "Node.js"
	Status   Status  `json:"status"`
	Reason   string  `json:"reason,omitempty"` // of a failure or a skip
	Trials   []Trial `json:"trials"`

	// Swapped is what came of the pair with its sides exchanged: Failed as it
	// should be, "" when that was not tried.
	Swapped Status `json:"swapped,omitempty"`
}

// MaxTimeout is the longest that one run of a harness may be given.
const MaxTimeout = time.Hour

// Options of Run. The zero value proves one case at a time.
type Options struct {
	Timeout     time.Duration // of one run of a harness; a build has twice as long; 0 = one minute
	Concurrency int           // cases at once; 0 = 1
	SelfTest    bool          // also exchange the sides of each pair, which must fail
	Done        func(Result)  // called after each case, one call at a time; may be nil

	look func(string) (string, error) // nil = exec.LookPath
}

// Run proves the cases that carry a proof, and returns the results in the order
// of the cases. Its only error is that of the context: what is wrong with a case
// or with this machine is in the results.
func Run(ctx context.Context, cases []*corpus.Case, o Options) ([]Result, error) {
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	o.Timeout = min(o.Timeout, MaxTimeout)
	if o.look == nil {
		o.look = exec.LookPath
	}
	var todo []*corpus.Case
	for _, c := range cases {
		if c.Proof != nil {
			todo = append(todo, c)
		}
	}
	chain := newToolchain(ctx, todo, o.look)
	results := make([]Result, len(todo))
	turns := make(chan struct{}, max(1, o.Concurrency))
	var all sync.WaitGroup
	var telling sync.Mutex
	for i, c := range todo {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if ctx.Err() != nil {
				return
			}
			results[i] = chain.prove(ctx, c, o)
			if ctx.Err() == nil && o.Done != nil {
				telling.Lock()
				defer telling.Unlock()
				o.Done(results[i])
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("proving: %w", err)
	}
	return results, nil
}

// machineError is a fault of this machine and not of the case: it skips.
type machineError struct{ err error }

func (e *machineError) Error() string { return "it could not be run on this machine: " + e.err.Error() }
func (e *machineError) Unwrap() error { return e.err }

func (t toolchain) prove(ctx context.Context, c *corpus.Case, o Options) Result {
	r := Result{Case: c.ID, Family: string(c.Family), Language: c.Language, Status: Failed, Trials: []Trial{}}
	if !c.IsPair() {
		r.Reason = "a proof compares two sides, and the case has one"
		return r
	}
	if r.Reason = c.ProofDefect(); r.Reason != "" {
		return r
	}
	with, entry, ok := toolOf(c)
	if !ok {
		r.Reason = "the proof has no entry; add prove.py, prove.mjs, prove.cjs or cmd/prove/main.go"
		return r
	}
	r.Tool = with.name
	for _, need := range needsOf(c) {
		if p := t.programs[need.program]; p.path == "" {
			r.Status, r.Reason = Skipped, p.missing
			return r
		}
	}
	p := pairProof{t, t.programs[with.program].path, entry, c.Proof, o.Timeout}
	trials, err := p.trials(ctx, c.Vulnerable, c.Fixed)
	r.Trials = trials
	if err == nil {
		err = convincing(trials)
	}
	if err == nil && o.SelfTest {
		r.Swapped, err = p.exchanged(ctx, c)
	}
	var machine *machineError
	switch {
	case err == nil:
		r.Status = Proved
	case errors.As(err, &machine):
		r.Status, r.Reason = Skipped, err.Error()
	default:
		r.Reason = err.Error()
	}
	return r
}

// convincing says why trials do not prove a pair.
func convincing(trials []Trial) error {
	payloads := map[Mode]string{}
	for _, t := range trials {
		if t.Seen != t.expected() {
			return unexpected(t)
		}
		if first, ok := payloads[t.Mode]; ok && first != t.Payload {
			return fmt.Errorf("the two sides were not sent the same %s: %q and %q", t.Mode, first, t.Payload)
		}
		payloads[t.Mode] = t.Payload
	}
	return nil
}

func unexpected(t Trial) error {
	switch {
	case t.Mode == Benign:
		return fmt.Errorf("the %s side does not serve a benign input: it answered %q", t.Side, t.Effect)
	case t.Side == corpus.Vulnerable:
		return fmt.Errorf("the exploit has no effect on the vulnerable side: it answered %q", t.Effect)
	}
	return fmt.Errorf("the exploit still works on the fixed side: it answered %q", t.Effect)
}

// exchanged runs the pair once more with its sides exchanged: the mutant that
// every proof has to kill. It is killed only when all trials ran and the exploit
// told the two sides apart the other way round, as the first time; a harness that
// breaks, or that answers otherwise than before, has shown nothing.
func (p pairProof) exchanged(ctx context.Context, c *corpus.Case) (Status, error) {
	trials, err := p.trials(ctx, c.Fixed, c.Vulnerable)
	if err != nil {
		return "", fmt.Errorf("with the sides exchanged: %w", err)
	}
	for _, t := range trials {
		// The side called vulnerable now holds the fixed files.
		if t.Mode == Exploit && t.Seen == t.expected() {
			return Proved, fmt.Errorf("with the sides exchanged the exploit did not change over: the %s side answered %q", t.Side, t.Effect)
		}
		if t.Mode == Benign && !t.Seen {
			return "", fmt.Errorf("with the sides exchanged: %w", unexpected(t))
		}
	}
	return Failed, nil
}
