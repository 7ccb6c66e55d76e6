package report

import (
	"fmt"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// Standing is a line with the overall J of a subject and the cases behind it.
func Standing(s *compare.Subject) string {
	scored := 0
	for _, c := range s.Cases {
		if c.Counts() {
			scored++
		}
	}
	j := measurements.EstimateAll(s.Cases).J
	if j == nil {
		return fmt.Sprintf("no J: %d of %d cases are scored", scored, len(s.Cases))
	}
	return fmt.Sprintf("pooled J %+.2f [%+.2f, %+.2f] over %d of %d cases", j.Estimate, j.Lo, j.Hi, scored, len(s.Cases))
}
