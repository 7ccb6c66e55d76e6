package measurements

import (
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/detector"
)

// claim reads family and place of a finding, and nothing else of it.
func (r Rules) claim(c *corpus.Case, side corpus.SideName, f detector.Finding) Claim {
	id, ok := r.Taxonomy.Lookup(claimedLabel(f))
	if !ok {
		id = ""
	}
	end := f.EndLine
	if end == 0 {
		end = f.Line
	}
	claim := Claim{
		Family:   id,
		Accepted: c.Accepts(id),
		Located:  f.File != "" && f.Line >= 1 && end >= f.Line && end-f.Line+1 <= r.MaxFindingLines,
	}
	if !claim.Located {
		return claim
	}
	places := c.Spans
	if side == corpus.Fixed {
		places = c.Regions
	}
	// The region of a file that is gone, or of a clean fixture, is everywhere.
	if side == corpus.Fixed && len(places) == 0 {
		claim.InPlace = true
		return claim
	}
	file := corpus.NormalizePath(f.File, c.Side(side))
	for _, p := range places {
		if corpus.NormalizePath(p.File, c.Side(side)) == file && f.Line <= p.End+r.Slack && end >= p.Start-r.Slack {
			claim.InPlace = true
			return claim
		}
	}
	return claim
}
