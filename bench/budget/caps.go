package budget

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Caps say what a capture may come to at most. A nil cap is none; a cap of 0 lets
// nothing be sent.
type Caps struct {
	Micros *int64         `json:"max_cost_usd_micros,omitempty"`
	Calls  *int64         `json:"max_calls,omitempty"`
	Tokens *int64         `json:"max_tokens,omitempty"`
	Time   *time.Duration `json:"max_time_ns,omitempty"`
}

// Any reports whether anything is capped.
func (c Caps) Any() bool {
	return c.Micros != nil || c.Calls != nil || c.Tokens != nil || c.Time != nil
}

// Check refuses caps that are none.
func (c Caps) Check() error {
	var errs []error
	for _, d := range c.dimensions() {
		if d.cap != nil && *d.cap < 0 {
			errs = append(errs, fmt.Errorf("%s: a cap must not be negative", d.flag))
		}
	}
	if c.Time != nil && *c.Time < 0 {
		errs = append(errs, errors.New("--max-time: a cap must not be negative"))
	}
	return errors.Join(errs...)
}

// String lists the caps for people: "$1.00, 100 calls".
func (c Caps) String() string {
	var parts []string
	for _, d := range c.dimensions() {
		if d.cap != nil {
			parts = append(parts, d.print(*d.cap))
		}
	}
	if c.Time != nil {
		parts = append(parts, c.Time.String())
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// dimension is one of the units that are added up.
type dimension struct {
	flag  string
	cap   *int64
	of    func(Amount) int64
	print func(int64) string
}

func (c Caps) dimensions() []dimension {
	return []dimension{
		{"--max-cost", c.Micros, func(a Amount) int64 { return a.Micros }, USD},
		{"--max-calls", c.Calls, func(a Amount) int64 { return a.Calls }, counted("call")},
		{"--max-tokens", c.Tokens, func(a Amount) int64 { return a.Tokens }, counted("token")},
	}
}

func counted(what string) func(int64) string {
	return func(n int64) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
}

// Hold reports whether an amount fits the caps. Time is none of its units.
func (c Caps) Hold(a Amount) bool {
	for _, d := range c.dimensions() {
		if d.cap != nil && d.of(a) > *d.cap {
			return false
		}
	}
	return true
}
