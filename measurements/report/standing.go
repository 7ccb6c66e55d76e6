package report

import (
	"fmt"
	"strings"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// Standing prints in a few lines what a subject was measured with, and its overall
// J. Width is that of the terminal, 0 = as wide as it gets.
func Standing(s *compare.Subject, width int) string {
	simulated, date := "", "unknown date"
	if s.Simulated {
		simulated = ", SIMULATED"
	}
	if !s.Date.IsZero() {
		date = day(&s.Date)
	}
	lines := []string{
		fmt.Sprintf("%s: capture %s of %s, commit %s, grade %s%s", s.Name, orUnknown(s.ID), date, commit(compare.Head{Identity: s.Identity}), orUnknown(s.Grade), simulated),
		fmt.Sprintf("  detector %s, model %s, K %d, split %s, policy %s, view %s",
			named(Plain, s.Detector.Name, s.Detector.Hash), orUnknown(s.Endpoint.Model), s.K, orUnknown(s.Split), s.Policy, s.View),
	}
	if why := s.Incomplete(compare.DefaultMaxErrorRate); why != "" {
		lines = append(lines, "  incomplete: "+why)
	}
	lines = append(lines, "  "+overallJ(s))
	for i, l := range lines {
		lines[i] = wrap(Plain(l), width)
	}
	return strings.Join(lines, "\n") + "\n"
}

func overallJ(s *compare.Subject) string {
	j := measurements.EstimateAll(s.Cases).J
	if j == nil {
		return "no J: " + Scored(s)
	}
	return fmt.Sprintf("pooled J %s %s: %s", signed(&j.Estimate), signedRange(&j.Lo, &j.Hi), Scored(s))
}

// Scored says how many of the cases count.
func Scored(s *compare.Subject) string {
	scored := 0
	for _, c := range s.Cases {
		if c.Counts() {
			scored++
		}
	}
	if scored == len(s.Cases) {
		return many(int64(scored), "case")
	}
	return fmt.Sprintf("%d of %s score", scored, many(int64(len(s.Cases)), "case"))
}
