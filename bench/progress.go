package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Reporter shows how far a capture has come.
type Reporter interface {
	Update(Progress)
	Note(text string) // what was decided on the way
	Close()
}

// ProgressModes lists the words for --progress.
func ProgressModes() []string { return []string{"auto", "bar", "plain", "json", "none"} }

// NewReporter returns the reporter of a mode. "auto" is a bar on a terminal and
// plain lines elsewhere: one every tenth of the way or every 30 seconds.
func NewReporter(w io.Writer, mode string, terminal bool, now func() time.Time) (Reporter, error) {
	switch mode {
	case "auto":
		if terminal {
			return newBar(w), nil
		}
		return &lines{w: w, now: now, write: plainLine, note: plainNote}, nil
	case "bar":
		return newBar(w), nil
	case "plain":
		return &lines{w: w, now: now, write: plainLine, note: plainNote}, nil
	case "json":
		return &lines{w: w, now: now, write: jsonLine, note: jsonNote}, nil
	case "none":
		return silent{}, nil
	}
	return nil, fmt.Errorf("--progress %q is unknown; use one of %v", mode, ProgressModes())
}

type silent struct{}

func (silent) Update(Progress) {}
func (silent) Note(string)     {}
func (silent) Close()          {}

// lines writes a line at the first run, at each tenth of the way, every 30
// seconds and at the end.
type lines struct {
	w       io.Writer
	now     func() time.Time
	write   func(io.Writer, Progress, time.Duration)
	note    func(io.Writer, string)
	started time.Time
	last    time.Time
	tenth   int
}

const lineInterval = 30 * time.Second

func (l *lines) Update(p Progress) {
	now := l.now()
	if l.started.IsZero() {
		l.started, l.last = now, now
	}
	tenth := 10 * p.Done / max(1, p.Total)
	if tenth == l.tenth && now.Sub(l.last) < lineInterval {
		return
	}
	l.tenth, l.last = tenth, now
	l.write(l.w, p, now.Sub(l.started))
}

func (l *lines) Note(text string) { l.note(l.w, text) }

func (l *lines) Close() {}

func plainNote(w io.Writer, text string) { fmt.Fprintln(w, text) }

func jsonNote(w io.Writer, text string) {
	event := struct {
		Schema string `json:"schema"`
		Note   string `json:"note"`
	}{"youden.progress/1", text}
	line, err := json.Marshal(event)
	if err != nil { // a struct of strings always marshals
		return
	}
	fmt.Fprintf(w, "%s\n", line)
}

func plainLine(w io.Writer, p Progress, elapsed time.Duration) {
	fmt.Fprintf(w, "%d/%d runs, %s, %s\n", p.Done, p.Total, describe(p), elapsed.Round(time.Second))
}

func jsonLine(w io.Writer, p Progress, elapsed time.Duration) {
	event := struct {
		Schema     string `json:"schema"`
		Done       int    `json:"done"`
		Total      int    `json:"total"`
		OK         int    `json:"ok"`
		Charged    int    `json:"charged"`
		Excused    int    `json:"excused"`
		Calls      int    `json:"calls"`
		CostMicros *int64 `json:"cost_usd_micros"`
		ElapsedMS  int64  `json:"elapsed_ms"`
	}{"youden.progress/1", p.Done, p.Total, p.OK, p.Charged, p.Lost, p.Calls, nil, elapsed.Milliseconds()}
	if p.CostKnown {
		event.CostMicros = &p.CostMicros
	}
	line, err := json.Marshal(event)
	if err != nil { // a struct of numbers always marshals
		return
	}
	fmt.Fprintf(w, "%s\n", line)
}

// describe names what the runs ended in and what they cost.
func describe(p Progress) string {
	text := fmt.Sprintf("%d ok, %d charged, %d excused, %d calls", p.OK, p.Charged, p.Lost, p.Calls)
	if p.CostKnown && p.CostMicros > 0 {
		text += fmt.Sprintf(", $%.4f", float64(p.CostMicros)/1e6)
	}
	return text
}

// bar redraws one line on a terminal.
type bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
	text     atomic.Value // string; the bar's own goroutine reads it
}

func newBar(w io.Writer) Reporter {
	b := &bar{progress: mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh())}
	b.text.Store("")
	return b
}

func (b *bar) Update(p Progress) {
	if b.bar == nil {
		b.bar = b.progress.AddBar(int64(p.Total),
			mpb.PrependDecorators(decor.CountersNoUnit("%d/%d runs ")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.text.Load().(string) })))
	}
	b.text.Store(describe(p))
	b.bar.SetTotal(int64(p.Total), false) // fresh runs are counted anew
	b.bar.SetCurrent(int64(p.Done))
}

// Note prints above the bar.
func (b *bar) Note(text string) { fmt.Fprintln(b.progress, text) }

// Close leaves the last state on the terminal, also of an interrupted capture.
func (b *bar) Close() {
	if b.bar != nil && !b.bar.Completed() {
		b.bar.Abort(false)
	}
	b.progress.Wait()
}
