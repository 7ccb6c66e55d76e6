package proof

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/youden-bench/youden/corpus"
)

// pairProof is the harness of a case with what it needs.
type pairProof struct {
	toolchain
	program, entry string
	harness        *corpus.Side
	limit          time.Duration
}

// trials runs the harness with an exploit and a benign input on both sides.
func (p pairProof) trials(ctx context.Context, vulnerable, fixed *corpus.Side) ([]Trial, error) {
	done := []Trial{}
	for _, side := range []struct {
		name  corpus.SideName
		files *corpus.Side
	}{{corpus.Vulnerable, vulnerable}, {corpus.Fixed, fixed}} {
		trials, err := p.side(ctx, side.name, side.files)
		done = append(done, trials...)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// side runs the harness over one side, each time in a workshop of its own:
// nothing that an exploit leaves behind may help the next run.
func (p pairProof) side(ctx context.Context, name corpus.SideName, files *corpus.Side) ([]Trial, error) {
	binary, err := p.built(ctx, files)
	if err != nil {
		return nil, fmt.Errorf("%s side: %w", name, err)
	}
	var done []Trial
	for _, mode := range []Mode{Exploit, Benign} {
		t := Trial{Side: name, Mode: mode}
		err := inWorkshop(files, p.harness, func(w workshop) error {
			if binary != nil {
				if err := os.WriteFile(w.binary, binary, 0o700); err != nil { //nolint:gosec // it is there to be run
					return &machineError{err}
				}
			}
			return t.run(ctx, p.command(p.program, p.entry, w, mode), p.environment(w), w, p.limit)
		})
		if err != nil {
			return done, fmt.Errorf("%s side, %s: %w", name, mode, err)
		}
		done = append(done, t)
	}
	return done, nil
}

// built compiles the harness of a side, and returns nil where none needs to be.
func (p pairProof) built(ctx context.Context, files *corpus.Side) (binary []byte, err error) {
	err = inWorkshop(files, p.harness, func(w workshop) error {
		build := p.build(p.program, p.entry, w)
		if build == nil {
			return nil
		}
		if _, err := run(ctx, build, p.environment(w), w, 2*p.limit); err != nil {
			return fmt.Errorf("building it: %w", err)
		}
		if binary, err = os.ReadFile(w.binary); err != nil {
			return &machineError{err}
		}
		return nil
	})
	return binary, err
}
