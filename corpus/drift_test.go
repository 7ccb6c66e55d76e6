package corpus

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestLintFindsChangesThatNoLabelMeets(t *testing.T) {
	assert.Equal(t, []string{
		"vulnerable/web/a.py:1: case html: error: the sides differ from here on and no span or region meets the difference; label it, or undo it (drift)",
	}, lint(t, add("cases/b/fixed/web/a.py", "x = 2\n")))
	assert.Equal(t, []string{
		"fixed/web/b.py: case html: warning: the file is on the fixed side alone; a detector could tell the sides apart by their files (drift)",
	}, lint(t, add("cases/b/fixed/web/b.py", "x = 2\n")))
	// A line that was only added has nothing on the other side but the place.
	assert.Empty(t, ruled(lint(t, add("cases/b/fixed/web/page.py", "def page(name):\n    name = quote(name)\n    return '<p>' + name\n")), RuleDrift))
}

// numbered is a file of n lines, some of them replaced.
func numbered(n int, replaced map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if text, ok := replaced[i]; ok {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(&b, "x%d = %d\n", i, i)
	}
	return b.String()
}

func TestDrift(t *testing.T) {
	noSpan := func(lines string) string {
		return "no span in this file meets a line that differs between the sides: they differ in " + lines + "; correct the spans (drift)"
	}
	noRegion := func(lines string) string {
		return "no region in this file meets a line that differs between the sides: they differ in " + lines + "; correct the regions (drift)"
	}
	const (
		noLabel = "the sides differ from here on and no span or region meets the difference; label it, or undo it (drift)"
		guard   = "guard()\n"
		far     = "the sides differ here too, away from every label; label it, or undo it (drift)"
	)
	type lines = map[int]string
	for _, c := range []struct {
		name          string
		before, after lines
		span, region  [2]int // zero = none in this file
		want          []string
	}{
		{"labels on the change", lines{10: "leak()\n"}, lines{10: "mend()\n"}, [2]int{10, 10}, [2]int{10, 10}, nil},
		{"labels between two far changes", lines{5: "a()\n", 35: "b()\n"}, lines{5: "c()\n", 35: "d()\n"}, [2]int{20, 20}, [2]int{20, 20},
			[]string{"vulnerable/f.py:5: case html: error: " + noLabel}},
		{"a span that stayed behind", lines{10: "leak()\n"}, lines{10: "mend()\n"}, [2]int{12, 12}, [2]int{10, 10},
			[]string{"vulnerable/f.py:12: case html: error: " + noSpan("10")}},
		{"a region that stayed behind", lines{10: "leak()\n"}, lines{10: "mend()\n"}, [2]int{10, 10}, [2]int{9, 9},
			[]string{"fixed/f.py:9: case html: error: " + noRegion("10")}},
		{"a span beside several changes", lines{10: "a()\n", 20: "b()\n", 21: "c()\n", 22: "d()\n"}, lines{10: "A()\n", 20: "B()\n", 21: "C()\n", 22: "D()\n"}, [2]int{12, 12}, [2]int{20, 20},
			[]string{"vulnerable/f.py:12: case html: error: " + noSpan("10, 20-22")}},
		{"a region beside a removed line", lines{10: "leak()\nx10 = 10\n"}, nil, [2]int{10, 10}, [2]int{30, 30},
			[]string{"fixed/f.py:30: case html: error: " + noRegion("9-10")}},
		{"no region at all", lines{10: "leak()\n"}, lines{10: "mend()\n"}, [2]int{10, 10}, [2]int{}, nil},
		{"an added line, the span before it", nil, lines{10: "mend()\nx10 = 10\n"}, [2]int{9, 9}, [2]int{10, 10}, nil},
		{"an added line, the span behind it", nil, lines{10: "mend()\nx10 = 10\n"}, [2]int{10, 10}, [2]int{10, 10}, nil},
		{"an added line, the span elsewhere", nil, lines{10: "mend()\nx10 = 10\n"}, [2]int{11, 11}, [2]int{10, 10},
			[]string{"vulnerable/f.py:11: case html: error: " + noSpan("9-10")}},
		{"a removed line", lines{10: "leak()\nx10 = 10\n"}, nil, [2]int{10, 10}, [2]int{10, 10}, nil},
		{"the second of two equal guards", lines{10: guard}, lines{10: guard + guard + guard}, [2]int{11, 11}, [2]int{12, 12}, nil},
		{"the first of them", lines{10: guard}, lines{10: guard + guard + guard}, [2]int{9, 9}, [2]int{10, 10}, nil},
		{"another change near the label", lines{10: "leak()\n", 13: "y = 1\n"}, lines{10: "mend()\n", 13: "y = 2\n"}, [2]int{10, 10}, [2]int{10, 10}, nil},
		{"another change far away", lines{10: "leak()\n", 14: "y = 1\n"}, lines{10: "mend()\n", 14: "y = 2\n"}, [2]int{10, 10}, [2]int{10, 10},
			[]string{"vulnerable/f.py:14: case html: warning: " + far}},
		{"two of them", lines{10: "leak()\n", 30: "y = 1\n", 40: "\n"}, lines{2: "u = 1\n", 10: "mend()\n", 30: "y = 2\n", 40: "z = 3\n"}, [2]int{10, 10}, [2]int{10, 10},
			[]string{"vulnerable/f.py:2: case html: warning: " + far, "vulnerable/f.py:30: case html: warning: " + far, "vulnerable/f.py:40: case html: warning: " + far}},
		{"imports, blanks and brackets", lines{1: "import os\nfrom a import b, c\n", 10: "leak()\n", 30: "})\n"}, lines{1: "import re\n\n", 10: "mend()\n", 30: "});\n"}, [2]int{11, 11}, [2]int{11, 11}, nil},
		{"code behind an import", lines{10: "leak()\n"}, lines{1: "import os; os.umask(0)\n", 10: "mend()\n"}, [2]int{10, 10}, [2]int{10, 10},
			[]string{"vulnerable/f.py:1: case html: warning: " + far}},
		{"a helper that the labelled change calls", lines{10: "leak(x)\n"}, lines{10: "leak(clean(x))\n", 30: "def clean(v):\n    return v.strip()\n"}, [2]int{10, 10}, [2]int{10, 10}, nil},
		{"a helper that nothing calls", lines{10: "leak(x)\n"}, lines{10: "leak(str(x))\n", 30: "def clean(v):\n    return v.strip()\n"}, [2]int{10, 10}, [2]int{10, 10},
			[]string{"vulnerable/f.py:30: case html: warning: " + far}},
		{"a parameter that every caller passes", lines{10: "def find(id):\n", 30: "find(1)\n"}, lines{10: "def find(id, owner):\n", 30: "find(1, 'me')\n"}, [2]int{10, 10}, [2]int{10, 10}, nil},
		{"a name that others use too", lines{10: "leak(v)\n", 20: "v = v\n", 30: "v = 1\n"}, lines{10: "mend(v)\n", 20: "v = v\n", 30: "v = 2\n"}, [2]int{10, 10}, [2]int{10, 10},
			[]string{"vulnerable/f.py:30: case html: warning: " + far}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := numbered(40, c.before), numbered(40, c.after)
			label := func(kind string, at [2]int) string {
				if at[0] == 0 {
					return ""
				}
				return fmt.Sprintf("[[case.%s]]\nfile = \"f.py\"\nstart = %d\nend = %d\n", kind, at[0], at[1])
			}
			got := lint(t, both(add("cases/b/vulnerable/f.py", before), add("cases/b/fixed/f.py", after), func(fsys fstest.MapFS) {
				replace(CatalogFile, "[[case.span]]\nfile = \"web/page.py\"", label("span", c.span)+label("region", c.region)+"[[case.span]]\nfile = \"web/page.py\"")(fsys)
			}))
			assert.Equal(t, c.want, ruled(got, RuleDrift))
		})
	}
}

func TestExtents(t *testing.T) {
	between := func(from, to int) hunk { return hunk{before: lineRange{from, to}} }
	var many []hunk
	for i := range 11 {
		many = append(many, between(3*i, 3*i+1))
	}
	for want, list := range map[string][]hunk{
		"1":         {between(0, 0)},
		"40":        {between(40, 40)},
		"9-11":      {between(9, 9), between(10, 10)},
		"13, 20-22": {between(12, 13), between(19, 22)},
		"1, 4, 7, 10, 13, 16, 19, 22 and 3 more places": many,
	} {
		assert.Equal(t, want, extents(list, 40, func(h hunk) lineRange { return h.before }))
	}
}

func TestConsequences(t *testing.T) {
	for name, lines := range map[string]struct{ follow, stand []string }{
		"a.py": {[]string{"", "  ", "import os", "from . import a", "from x.y import (", ")", "]),"}, []string{"import_all()", "import os; run()", `    "admin"`, "from_cookie(x)", "pass"}},
		"a.js": {[]string{"import a from 'b';", "import {", "} from '../b';", "const fs = require('fs');", "const { join } = require(\"path\")", "});"},
			[]string{"require('a')(app);", "import('a').then(run);", "app.use(x)", "use(router);", "const a = check(require);"}},
		"a.go":   {[]string{"import (", "\t\"net/url\"", "\tx \"a.b/c-d\"", "}"}, []string{"\t\"a\",", "return \"a b\"", "return err"}},
		"a.rb":   {[]string{"require 'set'"}, []string{"require_login!"}},
		"a.java": {[]string{"import java.util.List;", "};"}, []string{"importAll();"}},
	} {
		r := &revision{name: name}
		for _, line := range lines.follow {
			assert.True(t, r.followsFromOthers(line), "%s: %q", name, line)
		}
		for _, line := range lines.stand {
			assert.False(t, r.followsFromOthers(line), "%s: %q", name, line)
		}
	}
}

// apply makes the version after from the one before and the hunks.
func apply(before, after []string, list []hunk) (made []string, common int) {
	at := 0
	for _, h := range list {
		made = append(made, before[at:h.before.from]...)
		made = append(made, after[h.after.from:h.after.to]...)
		common += h.before.from - at
		at = h.before.to
	}
	return append(made, before[at:]...), common + len(before) - at
}

func TestHunksTurnOneVersionIntoTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c", ""})
		before, after := rapid.SliceOfN(line, 0, 12).Draw(t, "before"), rapid.SliceOfN(line, 0, 12).Draw(t, "after")
		list := hunks(before, after)
		made, common := apply(before, after, list)
		if !slices.Equal(made, after) {
			t.Fatalf("%v makes %q", list, made)
		}
		if longest := int(commonLines(before, after)[0][0]); common != longest {
			t.Fatalf("%v keeps %d lines of %d", list, common, longest)
		}
		for i, h := range list {
			if h.before.empty() && h.after.empty() {
				t.Fatalf("%v is empty", h)
			}
			if i > 0 && h.before.from == list[i-1].before.to {
				t.Fatalf("%v follows %v at once", h, list[i-1])
			}
		}
	})
}

// What is too long for the table is one hunk, with its ends still trimmed.
func TestHunksOfLongFiles(t *testing.T) {
	before, after := linesOf([]byte(numbered(3000, nil))), linesOf([]byte(numbered(3000, nil)))
	after[100], after[200] = "a", "b"
	assert.Len(t, hunks(before, after), 2, "the difference is short")
	after[2900] = "c"
	assert.Equal(t, []hunk{{lineRange{100, 2901}, lineRange{100, 2901}}}, hunks(before, after))
}
