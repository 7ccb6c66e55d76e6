package report

import (
	"fmt"
	"strings"

	"github.com/youden-bench/youden/measurements"
)

// looks say how a capture that was compared while it grew came to its verdict, and
// what that saved.
func looks(s *measurements.Sequential) []string {
	if s == nil {
		return nil
	}
	made := s.PlannedK
	if s.Stopped > 0 && s.Stopped <= len(s.Looks) {
		made = s.Looks[s.Stopped-1].K
	}
	line := fmt.Sprintf("compared while it grew, at %s; made all %s a side", many(int64(len(s.Looks)), "look"), many(int64(s.PlannedK), "planned run"))
	switch {
	case made < s.PlannedK:
		line = fmt.Sprintf("stopped at look %d, of %s a side where %d were planned; runs saved: %d of %d", s.Stopped, many(int64(made), "run"), s.PlannedK, s.RunsSaved, s.PlannedRuns)
		if s.CallsSaved != nil {
			line += fmt.Sprintf(", calls saved: %d", *s.CallsSaved)
		}
	case s.FreshRuns > 0:
		line += fmt.Sprintf(", and %s besides", many(int64(s.FreshRuns), "fresh run"))
	}
	lines := []string{line}
	if s.FreshCalls != nil {
		line := fmt.Sprintf("the fresh runs made %s", many(*s.FreshCalls, "call"))
		if s.FreshCostUSDMicros != nil {
			line += fmt.Sprintf(" for USD %.4f", float64(*s.FreshCostUSDMicros)/1e6)
		}
		lines = append(lines, line+", which are in no total here: they are a capture of their own, in its folder "+freshFolders(s))
	}
	for _, f := range s.Fresh {
		lines = append(lines, fmt.Sprintf("%d fresh runs a side of %s, %s (n = %d): delta J %s, p general %s, p here %s: %s",
			f.Runs, f.Slice, f.Family, f.N, signed(f.Delta), pValue(f.P).text, pValue(f.PCases).text, f.Verdict))
	}
	for _, f := range s.Unjudged() {
		lines = append(lines, fmt.Sprintf("the fresh runs of %s, %s are no part of the verdict; they were paid for all the same", f.Slice, f.Family))
	}
	return lines
}

// freshFolders names where fresh runs lie in a capture.
func freshFolders(s *measurements.Sequential) string {
	var names []string
	for _, f := range s.FreshCaptures {
		names = append(names, f.Folder)
	}
	if len(names) == 0 {
		return "fresh"
	}
	return strings.Join(names, ", ")
}
