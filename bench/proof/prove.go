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

	// Swapped is what came of the pair with its sides exchanged, "" when that
	// was not tried. A proof that holds both ways tells nothing apart.
	Swapped Status `json:"swapped,omitempty"`
}

// Options of Run. The zero value proves one case at a time.
type Options struct {
	Timeout     time.Duration // of one run of a harness, builds included; 0 = one minute
	Concurrency int           // cases at once; 0 = 1
	SelfTest    bool          // also exchange the sides of each pair, which must fail
	Done        func(Result)  // called after each case, one call at a time; may be nil

	look func(string) (string, error) // nil = exec.LookPath
}

// Run proves the cases that carry a proof, and returns the results in the order
// of the cases. An error is one of this machine (a full disk, a cancelled
// context); what is wrong with a case is in its result.
func Run(ctx context.Context, cases []*corpus.Case, o Options) ([]Result, error) {
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	if o.look == nil {
		o.look = exec.LookPath
	}
	chain := toolchain{look: o.look}
	if program, err := o.look("go"); err == nil {
		chain.cache = goCache(ctx, program)
	}
	var todo []*corpus.Case
	for _, c := range cases {
		if c.Proof != nil {
			todo = append(todo, c)
		}
	}
	results, errs := make([]Result, len(todo)), make([]error, len(todo))
	turns := make(chan struct{}, max(1, o.Concurrency))
	var all sync.WaitGroup
	var telling sync.Mutex
	for i, c := range todo {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if errs[i] = ctx.Err(); errs[i] != nil {
				return
			}
			results[i], errs[i] = chain.prove(ctx, c, o)
			if errs[i] == nil && o.Done != nil {
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
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("proving: %w", err)
	}
	return results, nil
}

func (t toolchain) prove(ctx context.Context, c *corpus.Case, o Options) (Result, error) {
	r := Result{Case: c.ID, Family: string(c.Family), Language: c.Language, Status: Failed, Trials: []Trial{}}
	if !c.IsPair() {
		r.Reason = "a proof compares two sides, and the case has one"
		return r, nil
	}
	with, entry, ok := toolOf(c)
	if !ok {
		r.Reason = "the proof has no entry; add prove.py, prove.mjs, prove.cjs or cmd/prove/main.go"
		return r, nil
	}
	r.Tool = with.name
	program := t.find(with.program)
	if program == "" {
		r.Status, r.Reason = Skipped, fmt.Sprintf("%s is not here (no %s on the path)", with.name, with.program)
		return r, nil
	}
	p := pairProof{t, program, entry, c.Proof, o.Timeout}
	var err error
	if r.Trials, r.Reason, err = p.trials(ctx, c.Vulnerable, c.Fixed); err != nil {
		return r, err
	}
	if r.Reason == "" {
		r.Status = Proved
	}
	if o.SelfTest && r.Status == Proved {
		r.Swapped = Failed
		_, reason, err := p.trials(ctx, c.Fixed, c.Vulnerable)
		if err != nil {
			return r, err
		}
		if reason == "" {
			r.Status, r.Swapped = Failed, Proved
			r.Reason = "the proof also holds with the two sides exchanged, so that it tells nothing apart"
		}
	}
	return r, nil
}

// pairProof is the harness of a case with what it needs.
type pairProof struct {
	toolchain
	program, entry string
	harness        *corpus.Side
	limit          time.Duration
}

// trials runs the harness with an exploit and a benign input on both sides. A
// reason says why the pair is not proved.
func (p pairProof) trials(ctx context.Context, vulnerable, fixed *corpus.Side) (done []Trial, reason string, err error) {
	done = []Trial{}
	for _, side := range []struct {
		name  corpus.SideName
		files *corpus.Side
	}{{corpus.Vulnerable, vulnerable}, {corpus.Fixed, fixed}} {
		trials, reason, err := p.side(ctx, side.name, side.files)
		done = append(done, trials...)
		if reason != "" || err != nil {
			return done, reason, err
		}
	}
	for _, t := range done {
		if t.Seen != t.expected() {
			return done, unexpected(t), nil
		}
	}
	return done, "", nil
}

// side runs the harness over one side.
func (p pairProof) side(ctx context.Context, name corpus.SideName, files *corpus.Side) (done []Trial, reason string, err error) {
	if file := replaced(files, p.harness); file != "" {
		return nil, fmt.Sprintf("%s of the proof would replace a file of the %s side; a proof may only add files", file, name), nil
	}
	w, err := newWorkshop(files, p.harness)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	env := p.environment(w)
	if build := p.build(p.program, p.entry, w); build != nil {
		if err := w.plant(""); err != nil {
			return nil, "", err
		}
		if _, err := run(ctx, build, env, w.side, 2*p.limit); err != nil {
			return nil, fmt.Sprintf("%s side: building it: %v", name, err), ctx.Err()
		}
	}
	for _, mode := range []Mode{Exploit, Benign} {
		t, err := w.trial(ctx, p.command(p.program, p.entry, w, mode), env, name, mode, p.limit)
		if err != nil {
			return done, err.Error(), ctx.Err()
		}
		done = append(done, t)
	}
	return done, "", nil
}

func unexpected(t Trial) string {
	switch {
	case t.Mode == Benign:
		return fmt.Sprintf("the %s side does not serve a benign input: it answered %q", t.Side, t.Effect)
	case t.Side == corpus.Vulnerable:
		return fmt.Sprintf("the exploit has no effect on the vulnerable side: it answered %q", t.Effect)
	}
	return fmt.Sprintf("the exploit still works on the fixed side: it answered %q", t.Effect)
}
