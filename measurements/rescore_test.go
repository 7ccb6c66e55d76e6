package measurements

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
)

func sampleCases(n int) []*corpus.Case {
	families := []family.ID{"injection", "path", "ssrf"}
	var cases []*corpus.Case
	for i := range n {
		cases = append(cases, sampleCase(i, families[i%len(families)]))
	}
	return cases
}

func TestRescoreWithTheSameRulesChangesNothing(t *testing.T) {
	rows := sampleRows(6, 3)
	c := sampleCapture(t, rows, 3)
	r, err := Rescore(c, sampleCases(6), DefaultRules())
	require.NoError(t, err)
	assert.Zero(t, r.Changed)
	assert.Empty(t, r.Left)
	was, err := c.Summary(Class, Charge)
	require.NoError(t, err)
	now := r.Summary(c.Manifest(), Class, Charge)
	assert.Equal(t, was.Families, now.Families)
	assert.Equal(t, was.Totals, now.Totals)
}

// noInjection is a taxonomy that has lost a family.
type noInjection struct{ Taxonomy }

func (n noInjection) Lookup(label string) (family.ID, bool) {
	if label == "injection" {
		return "", false
	}
	return n.Taxonomy.Lookup(label)
}

func TestRescoreMapsLabelsAgain(t *testing.T) {
	c := sampleCapture(t, sampleRows(6, 3), 3)
	rules := DefaultRules()
	rules.Taxonomy = noInjection{rules.Taxonomy}
	r, err := Rescore(c, sampleCases(6), rules)
	require.NoError(t, err)
	assert.NotZero(t, r.Changed)
	for _, row := range r.Runs {
		if row.Family == "injection" && row.Side == "vulnerable" {
			assert.False(t, *row.Hit)
			assert.Contains(t, []string{"unmapped", "silent"}, row.Outcome)
		}
	}
	assert.NotEqual(t, DefaultRules().Record().Hash, Rules{Taxonomy: rules.Taxonomy, MaxFindingLines: 40}.Record().Hash,
		"another taxonomy is another scorer")
}

func TestRescoreNamesWhatItLeaves(t *testing.T) {
	c := sampleCapture(t, sampleRows(4, 3), 3)
	cases := sampleCases(4)
	cases[1].Spans[0].End++                                            // other labels
	cases[2].Fixed.Files[0].Text = []byte(strings.Repeat("new\n", 60)) // other files
	cases = append(cases[:3:3], sampleCase(9, "path"))                 // one is gone
	r, err := Rescore(c, cases, DefaultRules())
	require.NoError(t, err)
	require.Len(t, r.Left, 3)
	for i, want := range []string{"labels", "files", "no such case"} {
		assert.Contains(t, r.Left[i].Reason, want)
		assert.Equal(t, 6, r.Left[i].Runs)
	}
	assert.Len(t, r.Runs, 6)
	s := r.Summary(c.Manifest(), Class, Charge)
	assert.Len(t, s.LeftOut, 3)
	assert.Equal(t, int64(1), s.Totals.Cases)
}

// A capture of an older scorer may have scored a case whose labels are broken.
func TestRescoreFindsLabelDefects(t *testing.T) {
	broken := sampleCase(0, "injection")
	broken.Regions[0].End = 999
	rows := sampleRows(1, 3)
	for i := range rows {
		rows[i].Run.CaseHash = broken.Hash()
	}
	r, err := Rescore(sampleCapture(t, rows, 3), []*corpus.Case{broken}, DefaultRules())
	require.NoError(t, err)
	assert.Equal(t, 6, r.Changed)
	for _, row := range r.Runs {
		assert.Equal(t, []string{"label_defect", "excused", "unscorable:label_defect"}, []string{row.Status, row.Counts, row.Outcome})
		assert.Nil(t, row.Findings)
		assert.Nil(t, row.DroppedItems)
	}
}
