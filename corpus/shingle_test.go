package corpus

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// passage is a text of n lines that shares nothing with another seed's.
func passage(seed string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s_%d = read_%s(%d, \"%s%d\")\n", seed, i, seed, i*7, seed, i)
	}
	return b.String()
}

func TestLintFindsNearDuplicates(t *testing.T) {
	write := func(c, text string) func(fstest.MapFS) {
		return both(add("cases/"+c+"/vulnerable/web/more.py", text), add("cases/"+c+"/fixed/web/more.py", text))
	}
	own := both(write("a", passage("alpha", 40)), write("b", passage("beta", 40)))
	rename := func(splitOfB, groupOfB string) func(fstest.MapFS) {
		return func(fsys fstest.MapFS) {
			declareAll(fsys, "pareto")
			if splitOfB == "pareto" && groupOfB == "page" {
				return
			}
			replace(CatalogFile, "id = \"html\"\nsplit = \"pareto\"\ngroup = \"page\"", "id = \"html\"\nsplit = \""+splitOfB+"\"\ngroup = \""+groupOfB+"\"")(fsys)
		}
	}
	near := both(write("a", passage("alpha", 40)), write("b", passage("alpha", 24)+passage("beta", 16)))
	assert.Empty(t, ruled(lint(t, own), RuleNearDuplicate))
	assert.Equal(t, []string{`catalog.toml:28: case html: warning: 58 % of the smaller one's text is shared with case "sql"; put both into one group, or write one of them anew (near-duplicate)`},
		ruled(lint(t, both(near, rename("pareto", "page"))), RuleNearDuplicate))
	assert.Equal(t, []string{`catalog.toml:28: case html: error: 58 % of the smaller one's text is shared with case "sql"; they lie in the splits pareto and holdout; put both into one group (near-duplicate)`},
		ruled(lint(t, both(near, rename("holdout", "page"))), RuleNearDuplicate))
	assert.Equal(t, []string{`catalog.toml:28: case html: warning: 58 % of the smaller one's text is shared with case "sql"; they ask one question twice; keep one, or make them differ (near-duplicate)`},
		ruled(lint(t, both(near, rename("pareto", "shop"))), RuleNearDuplicate))
}

// What stands in all cases, such as a licence header, joins none.
func TestBoilerplateIsNoDuplicate(t *testing.T) {
	var cases []*Case
	for i := range commonShingle + 5 {
		text := passage("head", 30) + passage(fmt.Sprintf("own%c%c", 'a'+i%26, 'a'+i/26), 30)
		cases = append(cases, &Case{ID: fmt.Sprint(i), Fixed: &Side{Files: []File{{"a.py", []byte(text)}}}})
	}
	assert.Empty(t, resemblances(cases))
	assert.NotEmpty(t, resemblances(cases[:commonShingle]))
}

// copies returns cases of which every one in step is a near-copy of one text,
// and the others are texts of their own with the same header.
func copies(n, step int) []*Case {
	var cases []*Case
	for i := range n {
		text := passage("head", 20) + passage(fmt.Sprintf("own%c", 'a'+i), 20)
		if i%step == 0 {
			text = passage("head", 20) + passage("body", 20) + fmt.Sprintf("last = %d\n", i)
		}
		split := Feedback
		if i/step%2 == 1 {
			split = Holdout
		}
		cases = append(cases, &Case{ID: fmt.Sprint(i), Group: fmt.Sprint(i), Split: split, Fixed: &Side{Files: []File{{"a.py", []byte(text)}}}})
	}
	return cases
}

// What many cases hold is no boilerplate when it is all that they hold.
func TestManyCopiesAreReported(t *testing.T) {
	for _, c := range []struct{ n, step, pairs int }{
		{commonShingle + 2, 1, commonShingle + 1}, // each with the next one
		{22 * 2, 2, 21}, // with other cases between them, which share the header
	} {
		got := resemblances(copies(c.n, c.step))
		require.Len(t, got, c.pairs)
		for i, r := range got {
			assert.Equal(t, [2]int{i * c.step, (i + 1) * c.step}, [2]int{r.first, r.second})
			assert.Greater(t, r.share, chainCopied)
		}
	}
	corpus := &Corpus{Cases: copies(22, 1), Source: FromCatalog}
	l := &linter{corpus: corpus, copies: map[[2]*Case]bool{}}
	l.nearDuplicates()
	require.Len(t, l.problems, 21)
	for _, p := range l.problems {
		assert.Equal(t, LintError, p.Severity)
		assert.Contains(t, p.Message, "they lie in the splits")
	}
}

// A sample of the shingles finds what all of them do.
func TestShinglesOfAHugeCorpus(t *testing.T) {
	cases := []*Case{
		{ID: "a", Fixed: &Side{Files: []File{{"a.py", []byte(passage("alpha", 400))}}}},
		{ID: "b", Fixed: &Side{Files: []File{{"a.py", []byte(passage("alpha", 200) + passage("beta", 200))}}}},
		{ID: "c", Fixed: &Side{Files: []File{{"a.py", []byte(passage("gamma", 400))}}}},
	}
	require.EqualValues(t, 1, sampling(cases))
	whole := resemblances(cases)
	require.Len(t, whole, 1)
	blank := &Case{ID: "blank", Fixed: &Side{Files: []File{{"b.py", []byte(strings.Repeat("\n", manyBytes))}}}}
	require.EqualValues(t, sampleShingles, sampling(append(cases, blank)))
	sample := resemblances(append(cases, blank))
	require.Len(t, sample, 1)
	assert.InDelta(t, whole[0].share, sample[0].share, 0.1)
	assert.InDelta(t, float64(len(cases[0].shingles(1)))/sampleShingles, float64(len(cases[0].shingles(sampleShingles))), 0.2*float64(len(cases[0].shingles(1)))/sampleShingles)
}

func TestOverlap(t *testing.T) {
	assert.Equal(t, 2, overlap([]uint64{1, 3, 5, 9}, []uint64{2, 3, 9, 10}))
	assert.Zero(t, overlap(nil, []uint64{1}))
}
