package measurements

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
)

// Write is WriteFrom for rows in memory.
func (c *Capture) Write(rows []Rows) error {
	return c.WriteFrom(func(yield func(Rows, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	})
}

// WriteFrom replaces the four Parquet files by the projections of these runs, which
// come in plan order and pass by once: nothing of a run is kept but its part of the
// scores. On an error the old files stay.
func (c *Capture) WriteFrom(rows iter.Seq2[Rows, error]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := writing{
		scoring: newScoring(c.manifest.Plan, everyReading()...), id: sha256.New(),
	}
	err := replace(c.disk, c.dir, []string{runsFile, stepsFile, findingsFile, scoresFile}, func(files []io.Writer) error {
		return w.write(files, rows)
	})
	// A simulated answer makes the capture simulated, whatever the endpoint was
	// taken for; Finish writes it down.
	c.manifest.Simulated = c.manifest.Simulated || err == nil && w.simulated
	return err
}

// writing is one write of the four files.
type writing struct {
	runs     *tableWriter[RunRow]
	steps    *tableWriter[StepRow]
	findings *tableWriter[FindingRow]

	roll      roll
	scoring   *scoring
	simulated bool
	id        hash.Hash // of what is written, so that the same rows give the same bytes and files of two writes are told apart
}

func (w *writing) write(files []io.Writer, rows iter.Seq2[Rows, error]) error {
	w.runs = newTableWriter[RunRow](files[0], runsFile)
	w.steps = newTableWriter[StepRow](files[1], stepsFile)
	w.findings = newTableWriter[FindingRow](files[2], findingsFile)
	for r, err := range rows {
		if err == nil {
			err = w.add(&r)
		}
		if err != nil {
			return err
		}
	}
	id := hex.EncodeToString(w.id.Sum(nil)[:8])
	scores := newTableWriter[ScoreRow](files[3], scoresFile)
	for _, row := range w.scoring.rows() {
		if err := scores.add(row, 0); err != nil {
			return err
		}
	}
	return errors.Join(w.runs.end(id), w.steps.end(id), w.findings.end(id), scores.end(id))
}

func (w *writing) add(r *Rows) error {
	e := r.Run.entry()
	number, err := w.roll.enter(&e)
	if err != nil {
		return err
	}
	w.scoring.add(number, &e)
	w.simulated = w.simulated || r.Run.Simulated
	fmt.Fprintf(w.id, "%s\x00%s\x00%s\x00%s\n", r.Run.RunID, r.Run.Status, r.Run.Outcome, deref(r.Run.Receipt))
	if err := w.runs.add(r.Run, len(deref(r.Run.Detail))); err != nil {
		return err
	}
	for _, s := range r.Steps {
		if err := w.steps.add(s, len(s.Text)+len(deref(s.Reasoning))+len(deref(s.Arguments))); err != nil {
			return err
		}
	}
	for _, f := range r.Findings {
		bytes := len(deref(f.Label)) + len(deref(f.Explanation)) + len(deref(f.Suggestion)) + len(deref(f.File))
		if err := w.findings.add(f, bytes); err != nil {
			return err
		}
	}
	return nil
}
