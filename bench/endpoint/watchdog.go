package endpoint

import (
	"fmt"
	"sync"
	"time"

	"github.com/youden-bench/youden/bench/redact"
)

// warnings tells each doubt once, without secrets: some of the words are a server's.
type warnings struct {
	filter *redact.Filter
	tell   func(string)

	mu   sync.Mutex
	said map[string]bool
}

func (w *warnings) once(key, words string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tell == nil || w.said[key] {
		return
	}
	if w.said == nil {
		w.said = map[string]bool{}
	}
	w.said[key] = true
	w.tell(w.filter.String(words))
}

// again tells something that may be told more than once.
func (w *warnings) again(words string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tell != nil {
		w.tell(words)
	}
}

// slowAfter is how long a call is under way before somebody is told, and how often
// that is. A capture that hangs at 99 % should say on what (spec/peers.md section
// 3.2, row 24).
const slowAfter = 2 * time.Minute

// watchdog tells of calls that take long: one of them, and how many more there are.
type watchdog struct {
	mu   sync.Mutex
	slow int
	last time.Time
}

// watch begins to watch a call and returns what ends it.
func (d *watchdog) watch(t *transport) func() {
	if t.warn.tell == nil {
		return func() {}
	}
	began, slow, ended := t.opts.Clock(), false, false
	var timer *time.Timer
	d.mu.Lock()
	defer d.mu.Unlock()
	timer = time.AfterFunc(slowAfter, func() {
		d.mu.Lock()
		if ended {
			d.mu.Unlock()
			return
		}
		now := t.opts.Clock()
		if !slow {
			slow = true
			d.slow++
		}
		quiet := now.Sub(d.last) < slowAfter
		if !quiet {
			d.last = now
		}
		n := d.slow
		timer.Reset(slowAfter)
		d.mu.Unlock()
		if !quiet {
			t.warn.again(fmt.Sprintf("endpoint %s: a call is under way for %s, and %d more for over %s; it is given up after %s (timeouts.total)",
				t.opts.Name, now.Sub(began).Round(time.Second), n-1, slowAfter, t.opts.Timeouts.Total))
		}
	})
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		ended = true
		timer.Stop()
		if slow {
			d.slow--
		}
	}
}
