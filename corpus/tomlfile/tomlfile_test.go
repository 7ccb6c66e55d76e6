package tomlfile

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type sample struct {
	Version int              `toml:"version"`
	Name    string           `toml:"name"`
	Ratio   float64          `toml:"ratio"`
	Small   int8             `toml:"small"`
	Count   uint             `toml:"count"`
	On      bool             `toml:"on"`
	When    time.Time        `toml:"when"`
	List    []int            `toml:"list"`
	Pair    [2]int           `toml:"pair"`
	Words   map[string]int   `toml:"words"`
	Any     any              `toml:"any"`
	Family  []sampleFamily   `toml:"family"`
	Inner   *sampleInner     `toml:"inner"`
	Grid    [][]sampleFamily `toml:"grid"`
	embedded
	Hidden string `toml:"-"`
}

type embedded struct {
	Extra string `toml:"extra"`
}

type sampleFamily struct {
	ID  string `toml:"id"`
	CWE []int  `toml:"cwe"`
}

type sampleInner struct {
	Deep string `toml:"deep"`
}

func TestEveryMistakeHasItsPlaceAndRemedy(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"unknown key", "version = 1\nnam = 'x'\n", `f.toml:2:1: unknown key "nam"; did you mean "name"?`},
		{"case matters", "Version = 1\n", `f.toml:1:1: unknown key "Version"; did you mean "version"?`},
		{"ignored field", "Hidden = 'x'\n", `f.toml:1:1: unknown key "Hidden"; remove it; keys here are any, count, extra, family, grid, inner, list, name, on, pair, ratio, small, version, when, words`},
		{"unknown table", "[[familly]]\nid = 'x'\n", `f.toml:1:3: unknown key "familly"; did you mean "family"?`},
		{"unknown key in a table", "[[family]]\nid = 'a'\n[[family]]\n  idd = 'b'\n", `f.toml:4:3: unknown key "family.idd"; did you mean "id"?`},
		{"unknown key in an inline table", "inner = { deep = 'x', deeep = 'y' }\n", `f.toml:1:23: unknown key "inner.deeep"; did you mean "deep"?`},
		{"unknown dotted key", "inner.quite = 1\n", `f.toml:1:7: unknown key "inner.quite"; remove it; keys here are deep`},
		{"float for an integer", "version = 1.0\n", `f.toml:1:11: key "version" is a float, wanted an integer; write it without a fraction`},
		{"exponent for an integer", "version = 1e3\n", `f.toml:1:11: key "version" is a float, wanted an integer; write it without a fraction`},
		{"float in a list", "list = [1, 2,\n 2.5]\n", `f.toml:2:2: key "list" is a float, wanted an integer; write it without a fraction`},
		{"string for an integer", "version = '1'\n", `f.toml:1:11: key "version" is a string, wanted an integer; write it without quotes`},
		{"integer for a string", "name = 7\n", `f.toml:1:8: key "name" is an integer, wanted a string; put it in quotes`},
		{"date for a string", "name = 2026-01-01\n", `f.toml:1:8: key "name" is a date or time, wanted a string; put it in quotes`},
		{"boolean for a number", "ratio = true\n", `f.toml:1:9: key "ratio" is a boolean, wanted a number; correct the value`},
		{"scalar for a list", "list = 1\n", `f.toml:1:8: key "list" is an integer, wanted an array; put it in brackets`},
		{"table for a list", "[family]\nid = 'x'\n", `f.toml:1:2: key "family" is a table, wanted an array; write a list of tables: [[name]]`},
		{"list for a table", "[[inner]]\n", `f.toml:1:3: key "inner" is an array, wanted a table; correct the value`},
		{"too many elements", "pair = [1, 2, 3]\n", `f.toml:1:1: key "pair" has 3 elements, 2 are needed; write exactly that many`},
		{"too few elements", "pair = [1]\n", `f.toml:1:1: key "pair" has 1 elements, 2 are needed; write exactly that many`},
		{"overflow", "small = 300\n", `f.toml:1:9: integer value 300 cannot be stored in int8; correct the value or the table there`},
		{"negative for unsigned", "count = -1\n", `f.toml:1:9: negative integer value -1 cannot be stored in uint; correct the value or the table there`},
		{"beyond 64 bits", "version = 99999999999999999999\n", `f.toml:1:11: decimal number is too large to fit in a 64-bit signed integer; correct the value or the table there`},
		{"duplicate key", "version = 1\nname = 'a'\nversion = 2\n", `f.toml:3:1: key "version" is given twice, first on line 1; keep one of them`},
		{"duplicate in an inline table", "inner = { deep = 'a', deep = 'b' }\n", `f.toml:1:23: key "deep" is given twice, first on line 1; keep one of them`},
		{"duplicate in a list of tables", "[[family]]\nid='a'\nid='b'\n", `f.toml:3:1: key "id" is given twice, first on line 2; keep one of them`},
		{"table opened twice", "[inner]\n[inner]\n", `f.toml:2:2: table inner already exists; correct the value or the table there`},
		{"syntax", "version = \n", `f.toml:1:11: unexpected character U+000A at start of value; correct the TOML there: strings need quotes, a table is [name], a list of tables [[name]]`},
		{"syntax at the end", "version = 1\nname = \"x", `f.toml:2:9: unterminated basic string; correct the TOML there: strings need quotes, a table is [name], a list of tables [[name]]`},
		{"columns count characters", "any = 'äöü'\nfamily = [{ id = 'ä', idd = 1 }]\n", `f.toml:2:23: unknown key "family.idd"; did you mean "id"?`},
		{"CRLF", "version = 1\r\nnam = 'x'\r\n", `f.toml:2:1: unknown key "nam"; did you mean "name"?`},
		{"not UTF-8", "version = 1\nname = '\xff'\n", `f.toml:2:9: the file is not valid UTF-8; save it as UTF-8`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := sample{Version: 42}
			positions, err := Decode("f.toml", []byte(c.text), &v)
			require.EqualError(t, err, c.want)
			assert.Nil(t, positions)
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, "f.toml", e.File)
		})
	}
}

func TestAllMistakesAreListedInTheOrderOfTheFile(t *testing.T) {
	var v sample
	_, err := Decode("f.toml", []byte("one = 1\nversion = 'x'\n[inner]\ntwo = 2\n[[family]]\nthree = 3\n[four]\nfive = 5\n"), &v)
	require.Error(t, err)
	var places []string
	for _, line := range strings.Split(err.Error(), "\n") {
		places = append(places, strings.Join(strings.SplitN(line, ":", 4)[1:3], ":"))
	}
	assert.Equal(t, []string{"1:1", "2:11", "4:1", "6:1", "7:2"}, places)
	assert.Equal(t, sample{}, v, "a document with mistakes must not be half read")
}

func TestDecodeFillsTheValue(t *testing.T) {
	var v sample
	text := "\xef\xbb\xbfversion = 3\nratio = 2\nextra = 'e'\nlist = [1, 0x10]\npair = [4, 5]\nwhen = 2026-11-30T12:00:00Z\nany = { a = [1] }\n" +
		"inner.deep = 'd'\nwords = { a = 1, b = 2 }\n[[family]]\nid = 'x'\ncwe = [89]\n"
	_, err := Decode("f.toml", []byte(text), &v)
	require.NoError(t, err)
	assert.Equal(t, 3, v.Version)
	assert.InDelta(t, 2.0, v.Ratio, 0)
	assert.Equal(t, "e", v.Extra)
	assert.Equal(t, []int{1, 16}, v.List)
	assert.Equal(t, [2]int{4, 5}, v.Pair)
	assert.Equal(t, "d", v.Inner.Deep)
	assert.Equal(t, map[string]int{"a": 1, "b": 2}, v.Words)
	assert.Equal(t, []sampleFamily{{ID: "x", CWE: []int{89}}}, v.Family)
	assert.True(t, v.When.Equal(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)))
}

const placed = `version = 1
list = [
  10,
  20, 30,
]

[[family]]
id = "a"

[[family]]
id = "b"
cwe = [1,
       2]

[inner]
deep = "x"
words.a = 1
grid = [[], [{ id = "q" }]]
`

func TestPositions(t *testing.T) {
	var v struct {
		Version int            `toml:"version"`
		List    []int          `toml:"list"`
		Family  []sampleFamily `toml:"family"`
		Inner   any            `toml:"inner"`
	}
	p, err := Decode("f.toml", []byte(placed), &v)
	require.NoError(t, err)
	cases := []struct {
		path         []any
		line, column int
		has          bool
	}{
		{nil, 1, 1, true},
		{[]any{"version"}, 1, 1, true},
		{[]any{"list"}, 2, 1, true},
		{[]any{"list", 0}, 3, 3, true},
		{[]any{"list", 2}, 4, 7, true},
		{[]any{"list", 3}, 2, 1, false},
		{[]any{"list", -1}, 2, 1, false},
		{[]any{"family", 0}, 7, 3, true},
		{[]any{"family", 1, "id"}, 11, 1, true},
		{[]any{"family", 1, "cwe", 1}, 13, 8, true},
		{[]any{"family", 0, "cwe"}, 7, 3, false},
		{[]any{"inner", "deep"}, 16, 1, true},
		{[]any{"inner", "words", "a"}, 17, 7, true},
		{[]any{"inner", "grid", 1, 0, "id"}, 18, 16, true},
		{[]any{"nowhere", 3}, 1, 1, false},
	}
	for _, c := range cases {
		line, column := p.At(c.path...)
		assert.Equal(t, [2]int{c.line, c.column}, [2]int{line, column}, "%v", c.path)
		assert.Equal(t, c.has, p.Has(c.path...), "%v", c.path)
	}
	assert.EqualError(t, p.Fault("is wrong", "mend it", "family", 1, "id"), "f.toml:11:1: is wrong; mend it")
}

func TestBounds(t *testing.T) {
	var v struct {
		Any any `toml:"any"`
	}
	t.Run("size", func(t *testing.T) {
		_, err := Decode("f.toml", make([]byte, MaxSize+1), &v)
		assert.ErrorContains(t, err, "f.toml: 8388609 bytes is more than the 8388608 that are read")
	})
	for name, text := range map[string]string{
		"arrays":      "any = " + strings.Repeat("[", 100) + strings.Repeat("]", 100),
		"dotted keys": "any" + strings.Repeat(".a", 100) + " = 1",
		"headers":     "[any" + strings.Repeat(".a", 100) + "]",
		"inline":      "any = " + strings.Repeat("{a=", 100) + "1" + strings.Repeat("}", 100),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode("f.toml", []byte(text), &v)
			assert.ErrorContains(t, err, "nested more than 64 levels deep; flatten the tables")
		})
	}
	t.Run("mistakes", func(t *testing.T) {
		_, err := Decode("f.toml", []byte(strings.Repeat("a = 1\n", 5000)), &v)
		assert.Len(t, strings.Split(err.Error(), "\n"), maxMistakes)
	})
	t.Run("not a pointer", func(t *testing.T) {
		_, err := Decode("f.toml", nil, v)
		assert.ErrorContains(t, err, "pass the address of a struct")
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(placed))
	f.Add([]byte("a.b = [1, {x.y=2}]\n[[c.d]]\ne=1979-05-27\n[c.d.f]\n"))
	f.Add([]byte("[a]\n[a.b]\n[[a]]\nc = '''\n'''\n"))
	f.Add([]byte("version = 1\nversion = 2\nlist = [1.5, 'x']\npair = []\n"))
	f.Add([]byte("inner = 1\n[inner]\ndeep='x'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v sample
		p, err := Decode("f.toml", data, &v)
		if err == nil {
			line, column := p.At("family", 0, "cwe", 0)
			if line < 1 || column < 1 {
				t.Fatalf("place %d:%d", line, column)
			}
			return
		}
		last := strings.Count(string(data), "\n") + 1
		for _, one := range unjoin(err) {
			var e *Error
			if !errors.As(one, &e) || e.Line < 1 || e.Line > last || e.Column < 1 || e.Message == "" || e.Remedy == "" {
				t.Fatalf("an error without a place or a remedy: %#v", one)
			}
		}
	})
}

func unjoin(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}
