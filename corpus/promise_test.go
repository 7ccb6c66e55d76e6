package corpus

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

// promising puts a [promise] table into the sample's catalog.
func promising(keys string) func(fstest.MapFS) {
	return replace(CatalogFile, "slice = \"sample\"\n", "slice = \"sample\"\n[promise]\n"+keys+"\n")
}

func both(changes ...func(fstest.MapFS)) func(fstest.MapFS) {
	return func(fsys fstest.MapFS) {
		for _, change := range changes {
			change(fsys)
		}
	}
}

// ruled keeps the problems of one rule.
func ruled(problems []string, rule Rule) []string {
	var kept []string
	for _, p := range problems {
		if strings.HasSuffix(p, "("+string(rule)+")") {
			kept = append(kept, p)
		}
	}
	return kept
}

func TestLintHoldsACatalogToItsPromise(t *testing.T) {
	proofless := func(fsys fstest.MapFS) {
		delete(fsys, "cases/a/proof/cmd/prove/main.go")
		delete(fsys, "cases/a/proof/go.mod.txt")
	}
	for _, c := range []struct {
		name   string
		rule   Rule
		change func(fstest.MapFS)
		want   []string
	}{
		{"nothing promised", RuleCount, func(fstest.MapFS) {}, nil},
		{"enough pairs", RuleCount, promising("least = [{cases = 2}, {cases = 1, families = [\"injection\"], languages = [\"go\", \"java\"]}]"), nil},
		{"too few pairs", RuleCount, promising("least = [{cases = 3}]"),
			[]string{"catalog.toml:4: error: 3 pairs were promised and there are 2; add pairs, or promise less (count)"}},
		{"a clean fixture is no pair", RuleCount, promising(`least = [{cases = 1, families = ["path"]}]`),
			[]string{"catalog.toml:4: error: 1 pairs of path were promised and there are 0; add pairs, or promise less (count)"}},
		{"too few of a language", RuleCount, promising(`least = [{cases = 1, languages = ["java", "typescript"]}]`),
			[]string{"catalog.toml:4: error: 1 pairs in java or typescript were promised and there are 0; add pairs, or promise less (count)"}},
		{"too few hard ones", RuleCount, both(promising(`least = [{cases = 2, difficulty = "hard"}]`), replace(CatalogFile, `title = "a filter"`, `difficulty = "hard"`)),
			[]string{"catalog.toml:4: error: 2 hard pairs were promised and there are 1; add pairs, or promise less (count)"}},
		{"too few with an order", RuleCount, promising(`least = [{cases = 1, orders_model = true}]`),
			[]string{"catalog.toml:4: error: 1 pairs with an order to a model were promised and there are 0; add pairs, or promise less (count)"}},
		{"a third held out", RuleHoldout, both(promising("holdout_one_in = 3"), func(fsys fstest.MapFS) {
			replace(CatalogFile, `id = "sql"`, "id = \"sql\"\nsplit = \"holdout\"")(fsys)
			replace(CatalogFile, `id = "html"`, "id = \"html\"\nsplit = \"pareto\"")(fsys)
			replace(CatalogFile, `id = "clean"`, "id = \"clean\"\nsplit = \"pareto\"")(fsys)
		}), nil},
		{"all held out", RuleHoldout, both(promising("holdout_one_in = 3"), func(fsys fstest.MapFS) { declareAll(fsys, "holdout") }),
			[]string{"catalog.toml:4: error: one in 3 cases is to be held out, and it is 3 of 3; move cases between the splits, by group (holdout-share)"}},
		{"one family held out too often", RuleHoldout, both(promising("holdout_one_in = 3"), func(fsys fstest.MapFS) {
			replace(CatalogFile, `family = "output_encoding"`, `family = "injection"`)(fsys)
			replace(CatalogFile, `id = "sql"`, "id = \"sql\"\nsplit = \"holdout\"")(fsys)
			replace(CatalogFile, `id = "html"`, "id = \"html\"\nsplit = \"holdout\"")(fsys)
			replace(CatalogFile, `id = "clean"`, "id = \"clean\"\nsplit = \"pareto\"")(fsys)
		}), []string{"catalog.toml:4: error: one in 3 of every family is to be held out, and of injection it is 2 of 2; move cases of it between the splits, by group (holdout-share)"}},
		{"files and lines as promised", RuleSize, promising("files = 2\nlines = [1, 9]\nspan_lines = 2"), nil},
		{"too many files, lines, lines of a span", RuleSize, promising("files = 1\nlines = [2, 4]\nspan_lines = 1"), []string{
			"vulnerable/db.go: case sql: error: the file has 5 lines, and catalog.toml:5 promises 2 to 4; change the file, or promise a wider range (size)",
			"fixed/db.go: case sql: error: the file has 5 lines, and catalog.toml:5 promises 2 to 4; change the file, or promise a wider range (size)",
			"vulnerable/db.go:3: case sql: error: the span covers 2 lines, and catalog.toml:6 promises at most 1; point at several narrow places, or promise more (size)",
			"catalog.toml:31: case html: error: the vulnerable side has 2 files, and catalog.toml:4 promises at most 1; leave some out, or promise more (size)",
			"vulnerable/web/a.py: case html: error: the file has 1 lines, and catalog.toml:5 promises 2 to 4; change the file, or promise a wider range (size)",
			"catalog.toml:31: case html: error: the fixed side has 2 files, and catalog.toml:4 promises at most 1; leave some out, or promise more (size)",
			"fixed/web/a.py: case html: error: the file has 1 lines, and catalog.toml:5 promises 2 to 4; change the file, or promise a wider range (size)",
			"catalog.toml:46: case clean: error: the fixed side has 2 files, and catalog.toml:4 promises at most 1; leave some out, or promise more (size)",
			"fixed/store/more/load.go: case clean: error: the file has 1 lines, and catalog.toml:5 promises 2 to 4; change the file, or promise a wider range (size)",
		}},
		{"promised proof", RuleProof, promising(`proved = {families = ["injection"], languages = ["go"]}`), nil},
		{"promised proof is missing", RuleProof, both(proofless, replace(CatalogFile, `level = "proved"`, `level = "read"`), promising(`proved = {families = ["injection"], languages = ["go"]}`)),
			[]string{"catalog.toml:6: case sql: error: a proof was promised for injection in go; add one in proof/ (proof)"}},
		{"promised in every language that has proofs", RuleProof, both(proofless, replace(CatalogFile, `level = "proved"`, `level = "read"`), promising(`proved = {families = ["injection", "output_encoding"]}`)), []string{
			"catalog.toml:6: case sql: error: a proof was promised for injection in go; add one in proof/ (proof)",
			"catalog.toml:29: case html: error: a proof was promised for output_encoding in python; add one in proof/ (proof)",
		}},
		{"promised in no language", RuleProof, both(proofless, replace(CatalogFile, `level = "proved"`, `level = "read"`), promising(`proved = {families = ["injection"], languages = []}`)),
			[]string{"catalog.toml:6: case sql: error: a proof was promised for injection in go; add one in proof/ (proof)"}},
		{"promised where no proof can be", RuleProof, both(replace(CatalogFile, `language = "python"`, `language = "java"`), promising(`proved = {families = ["output_encoding"]}`)), nil},
		{"called proved without a proof", RuleProof, both(proofless, promising("files = 9")),
			[]string{"catalog.toml:6: case sql: error: the label is called proved and there is no proof directory; add the proof, or call the label read (proof)"}},
		{"called proved without a promise", RuleProof, proofless,
			[]string{"catalog.toml:4: case sql: warning: the label is called proved and there is no proof directory; add the proof, or call the label read (proof)"}},
		{"a proof of one side", RuleProof, add("cases/c/proof/prove.py", "x = 1\n"),
			[]string{"catalog.toml:42: case clean: error: a proof compares two sides, and the case has one; remove it, or add the other side (proof)"}},
		{"a proof that is not called one", RuleProof, add("cases/b/proof/prove.py", "x = 1\n"),
			[]string{"catalog.toml:27: case html: warning: there is a proof and the label is called read; call it proved once the proof holds (proof)"}},
		{"not read blind", RuleReading, promising("read_blind = true"),
			[]string{"catalog.toml:29: case html: error: the pair was not read blind; let somebody who did not write it read it, and record vetted.first (reading)"}},
		{"changed and not read again", RuleReading, replace(CatalogFile, `level = "read"`, `level = "read", first = "agreed", changed = "the span"`),
			[]string{"catalog.toml:27: case html: warning: the case was changed after its first reading (agreed) and not read again; let another reader read it, and record vetted.again (reading)"}},
		{"disputed, changed and not read again", RuleReading, replace(CatalogFile, `, again = "agreed"`, ""),
			[]string{"catalog.toml:4: case sql: warning: the case was changed after its first reading (disputed) and not read again; let another reader read it, and record vetted.again (reading)"}},
		{"neither may be where blind readings are promised", RuleReading, both(promising("read_blind = true"), replace(CatalogFile, `, again = "agreed"`, ""), replace(CatalogFile, `level = "read"`, `level = "read", first = "agreed", changed = "the span"`)), []string{
			"catalog.toml:6: case sql: error: the case was changed after its first reading (disputed) and not read again; let another reader read it, and record vetted.again (reading)",
			"catalog.toml:29: case html: error: the case was changed after its first reading (agreed) and not read again; let another reader read it, and record vetted.again (reading)",
		}},
		{"disputed still", RuleReading, replace(CatalogFile, `again = "agreed"`, `again = "disputed"`),
			[]string{"catalog.toml:4: case sql: error: the last reading disputes the label; change the case and let it be read again (reading)"}},
		{"disputed and never read first", RuleReading, replace(CatalogFile, `level = "read"`, `level = "read", again = "disputed"`),
			[]string{"catalog.toml:27: case html: error: a reading disputes the label and there is no first one; record it as first, and mend the case (reading)"}},
		{"agreed and never read first", RuleReading, replace(CatalogFile, `level = "read"`, `level = "read", changed = "x", again = "agreed"`),
			[]string{"catalog.toml:27: case html: warning: there is another reading and no first one; record in vetted.first what the first reader said (reading)"}},
		{"changed after no reading", RuleReading, replace(CatalogFile, `level = "read"`, `level = "read", changed = "x"`),
			[]string{"catalog.toml:27: case html: warning: something was changed after a reading that is not on record; record it in vetted.first (reading)"}},
		{"disputed on nothing, unsettled", RuleReading, replace(CatalogFile, `level = "read"`, `level = "read", first = "disputed"`), []string{
			"catalog.toml:27: case html: warning: the record does not say what was disputed; add on = [...] to vetted (reading)",
			"catalog.toml:27: case html: error: the first reading was disputed and nothing came of it; change the case and say so, record a residual, or let another reader agree (reading)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, ruled(lint(t, c.change), c.rule))
		})
	}
}

func TestEachFamilyIsPromised(t *testing.T) {
	got := ruled(lint(t, promising("each_family = 1")), RuleCount)
	assert.Len(t, got, 12, "14 families, two of which have a pair")
	assert.Contains(t, got, "catalog.toml:4: error: 1 pairs of every family were promised and path has 0; add pairs, or promise less (count)")
}
