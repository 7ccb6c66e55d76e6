package simulator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExpressionFlaws(t *testing.T) {
	for _, c := range []struct {
		lang       language
		code       string
		unanchored bool
		backtracks bool
	}{
		{langScript, `const a = /^[a-z]+$/;`, false, false},
		{langScript, `const a = /^[a-z]+/;`, true, false},
		{langScript, `const a = /day|week/;`, true, false},
		{langScript, `const a = /^day|week$/;`, true, false},
		{langScript, `const a = /^(day|week)$/;`, false, false},
		{langScript, `const a = /^[a-z]+$/m;`, true, false},
		{langScript, `const a = /[<>&]/;`, false, false},
		{langScript, `const a = /^https?:\/\//;`, false, false},
		{langScript, `const a = /^(a+)+$/;`, false, true},
		{langScript, `const a = /^(\w+\s?)*$/;`, false, true},
		{langScript, `const a = /^(\d+,)*\d+$/;`, false, false},
		{langScript, `const a = /^(?=.*\d)\w{8,}$/;`, false, false},
		{langScript, `const a = /^(?:\w|\d)*$/;`, false, false},
		{langPython, `ok = re.match(r"[a-z]+$", x)`, false, false},
		{langPython, `ok = re.match(r"[a-z]+", x)`, true, false},
		{langPython, `ok = re.fullmatch(r"[a-z]+", x)`, false, false},
		{langPython, `P = re.compile(r"^([a-z]+\.?)+@x$")`, false, true},
		{langJava, `boolean ok = s.matches("[a-z]+");`, false, false},
		{langJava, `Pattern P = Pattern.compile("^(\\w+\\.)+\\w+$");`, false, false},
		{langJava, `Pattern P = Pattern.compile("^(\\w*-?)+$");`, false, true},
		{langGo, "var p = regexp.MustCompile(`^[a-z]+`)", true, false},
		{langGo, "var p = regexp.MustCompile(`^[a-z]+\\z`)", false, false},
	} {
		list := expressions(c.code, c.lang)
		require.Len(t, list, 1, c.code)
		assert.Equal(t, c.unanchored, list[0].has(flawUnanchored), "unanchored: %s", c.code)
		assert.Equal(t, c.backtracks, list[0].has(flawBacktracks), "backtracks: %s", c.code)
	}
}

func FuzzExpressions(f *testing.F) {
	f.Add("a = /^(a+)+$/.test(b)", "js")
	f.Add(`re.match(r"(?P<x>[a-z]*)*\Z", y)`, "py")
	f.Fuzz(func(t *testing.T, code, lang string) {
		for _, e := range expressions(code, language(lang)) {
			e.has(flawBacktracks)
			e.has(flawUnanchored)
		}
	})
}
