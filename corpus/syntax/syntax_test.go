package syntax

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLanguage(t *testing.T) {
	for name, want := range map[string]string{
		"a.go": "go", "src/A.java": "java", "a.py": "python", "a.pyi": "python", "a.mjs": "javascript", "a.cjs": "javascript", "a.jsx": "javascript",
		"a.ts": "typescript", "a.TSX": "typescript", "a.mts": "typescript", "a.html": "", "go": "", "": "", "a.go/b": "",
	} {
		assert.Equal(t, want, Language(name), name)
	}
}

// supported skips a case of a language that this build lacks.
func supported(t *testing.T, language string) {
	t.Helper()
	if !slices.Contains(Languages(), language) {
		t.Skipf("this build has no grammar of %s", language)
	}
}

func TestParse(t *testing.T) {
	cases := []struct{ name, language, path, src, fault string }{
		{"go", "go", "a.go", "package a\n\nfunc f[T any](x T) T { return x }\n", ""},
		{"go, open brace", "go", "a.go", "package a\n\nfunc f() {\n", "4:1: expected ';', found 'EOF': "},
		{"go, line directive", "go", "a.go", "package a\n//line b.go:100\nvar x = = 1\n", "3:9: expected operand, found '=': var x = = 1"},
		{"go, wide characters", "go", "a.go", "package a\nvar ä = \"ü\" 1\n", "2:13: expected ';', found 1: var ä = \"ü\" 1"},
		{"python", "python", "a.py", "match x:\n    case {'a': [*rest]}:\n        print(f'{rest!r}')\n", ""},
		{"python, missing parenthesis", "python", "a.py", "def f(:\n    pass\n", `1:7: ")" is missing: def f(:`},
		{"python, keyword", "python", "a.py", "x = 1\ny = = 2\n", "2:5: syntax error: y = = 2"},
		{"javascript", "javascript", "a.js", "const {a, b} = await f?.() ?? {};\n", ""},
		{"jsx", "javascript", "a.jsx", "const a = <p title={x}>y</p>;\n", ""},
		{"javascript, missing brace", "javascript", "a.js", "function f() {\n  return 1\n", `2:11: "}" is missing: return 1`},
		{"typescript", "typescript", "a.ts", "const x = <T>y; function f<T extends U>(a?: T): a is T { return true }\n", ""},
		{"typescript, no type", "typescript", "a.ts", "let x: = 3;\n", "1:6: syntax error: let x: = 3;"},
		{"tsx", "typescript", "a.tsx", "const a = <p title={x as string}>y</p>;\n", ""},
		{"java", "java", "A.java", "record A(int x) { sealed interface B permits C {} }\n", ""},
		{"java, missing semicolon", "java", "A.java", "class A {\n  int f() { return 1 }\n}\n", `2:21: ";" is missing: int f() { return 1 }`},
		{"empty", "java", "A.java", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			supported(t, c.language)
			f, err := Parse(c.language, c.path, []byte(c.src))
			require.NoError(t, err)
			assert.Equal(t, c.language, f.Language)
			if c.fault == "" {
				assert.True(t, f.OK(), "%v", f.Faults)
				return
			}
			require.False(t, f.OK())
			assert.Equal(t, c.fault, f.Faults[0].String())
		})
	}
}

func TestDialectFollowsThePath(t *testing.T) {
	supported(t, "typescript")
	for path, ok := range map[string]bool{"a.ts": false, "a.tsx": true} {
		f, err := Parse("typescript", path, []byte("const a = <p>y</p>;\n"))
		require.NoError(t, err)
		assert.Equal(t, ok, f.OK(), path)
	}
}

func TestFaultsAreInOrderAndBounded(t *testing.T) {
	for language, line := range map[string]string{"go": "var = 1\n", "python": "x = = 1\n", "java": "class { }\n", "javascript": "let = = 1;\n", "typescript": "let x: = 1;\n"} {
		t.Run(language, func(t *testing.T) {
			supported(t, language)
			head := ""
			if language == "go" {
				head = "package a\n"
			}
			f, err := Parse(language, "a", []byte(head+strings.Repeat(line, 200)))
			require.NoError(t, err)
			assert.NotEmpty(t, f.Faults)
			assert.LessOrEqual(t, len(f.Faults), maxFaults)
			assert.True(t, slices.IsSortedFunc(f.Faults, func(a, b Fault) int { return a.Line - b.Line }), "%v", f.Faults)
		})
	}
}

func TestUnsupported(t *testing.T) {
	_, err := Parse("cobol", "a.cob", nil)
	assert.ErrorIs(t, err, ErrUnsupported)
	assert.ErrorContains(t, err, `parsing a.cob: unsupported language "cobol"; the languages here are go`)
	var unsupported *UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	assert.Equal(t, "cobol", unsupported.Language)
	for _, language := range []string{"go", "java", "javascript", "python", "typescript"} {
		_, err := Parse(language, "a", []byte("\n"))
		if slices.Contains(Languages(), language) {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, `parsing a: unsupported language "`+language+`"; this program was built without cgo and parses only Go; build it with a C compiler`)
	}
}

func TestOversize(t *testing.T) {
	_, err := Parse("go", "a.go", make([]byte, MaxSize+1))
	require.Error(t, err)
	assert.False(t, errors.Is(err, ErrUnsupported))
}

func TestDeepNestingIsNoCrash(t *testing.T) {
	deep := strings.Repeat("(", 10_000)
	for _, language := range Languages() {
		_, err := Parse(language, "a", []byte("package a\nvar x = "+deep))
		assert.NoError(t, err, language)
	}
}

func TestParseFromManySides(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		for _, language := range Languages() {
			wg.Go(func() {
				_, err := Parse(language, "a", []byte("x = (1\n"))
				assert.NoError(t, err)
			})
		}
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	f.Add("go", []byte("package a\n//line :1\nfunc f( {"))
	f.Add("python", []byte("def f(:\n\tpass\n"))
	f.Add("typescript", []byte("let x: = <T>3"))
	f.Add("java", []byte("class A { \xff\x00"))
	f.Add("javascript", []byte("`${`${`"))
	f.Fuzz(func(t *testing.T, language string, src []byte) {
		file, err := Parse(language, "a.tsx", src)
		if err != nil {
			return
		}
		lines := strings.Count(string(src), "\n") + 1
		for _, fault := range file.Faults {
			if fault.Line < 1 || fault.Line > lines || fault.Column < 1 || fault.Message == "" {
				t.Fatalf("fault %+v in %d lines", fault, lines)
			}
		}
	})
}
