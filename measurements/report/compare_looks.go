package report

import (
	"fmt"

	"github.com/youden-bench/youden/measurements"
)

// looks say how a capture that was compared while it grew came to its verdict, and
// what that saved.
func looks(s *measurements.Sequential) []string {
	if s == nil {
		return nil
	}
	line := fmt.Sprintf("compared while it grew, at %s, with %d runs a side planned", many(int64(len(s.Looks)), "look"), s.PlannedK)
	if s.Stopped > 0 && s.Stopped <= len(s.Looks) {
		line = fmt.Sprintf("stopped at look %d, of %d runs a side where %d were planned", s.Stopped, s.Looks[s.Stopped-1].K, s.PlannedK)
	}
	line += fmt.Sprintf("; runs saved: %d of %d", s.RunsSaved, s.PlannedRuns)
	if s.CallsSaved != nil {
		line += fmt.Sprintf(", calls saved: %d", *s.CallsSaved)
	}
	lines := []string{line}
	for _, f := range s.Fresh {
		lines = append(lines, fmt.Sprintf("%d fresh runs a side of %s, %s (n = %d): delta J %s, p general %s, p here %s: %s",
			f.Runs, f.Slice, f.Family, f.N, signed(f.Delta), pValue(f.P).text, pValue(f.PCases).text, f.Verdict))
	}
	return lines
}
