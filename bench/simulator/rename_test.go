package simulator

import (
	"fmt"
	"regexp"
	"strings"
)

// renamed gives both sides of a pair other names for what they define locally:
// variables and parameters, not members, functions, types or constants.
func renamed(p pair) pair {
	names := map[string]string{}
	for _, s := range []side{p.vulnerable, p.fixed} {
		for path, text := range s {
			collectLocals(path, text, names)
		}
	}
	out := p
	out.vulnerable, out.fixed = side{}, side{}
	for path, text := range p.vulnerable {
		out.vulnerable[path] = renameText(path, text, names)
	}
	for path, text := range p.fixed {
		out.fixed[path] = renameText(path, text, names)
	}
	return out
}

var (
	localName   = regexp.MustCompile(`^[a-z_][a-zA-Z0-9_]*$`)
	moduleNames = wordSet("request app db os re json logger log flask session self cls module exports require console process window document router express")
)

func collectLocals(path, text string, names map[string]string) {
	lang := languageOf(path)
	m := mask(text, lang)
	list, _ := statements(m, lang)
	add := func(name string) {
		if localName.MatchString(name) && !keywords[name] && !moduleNames[name] && names[name] == "" {
			names[name] = fmt.Sprintf("v%d", len(names)+1)
		}
	}
	for i := range list {
		for _, name := range list[i].assigned {
			add(name)
		}
	}
	for _, f := range functions(list, strings.Split(string(m.bare), "\n"), lang) {
		for _, name := range f.params {
			add(name)
		}
	}
	// What is also a member, a key, a call or an import keeps its name: renaming
	// it would need a parser.
	for i := range list {
		b := list[i].bare
		for j := 0; j < len(b); {
			if !isIdentByte(b[j]) {
				j++
				continue
			}
			k := j
			for k < len(b) && isIdentByte(b[k]) {
				k++
			}
			rest := strings.TrimLeft(b[k:], " ")
			isKey := strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, ":=")
			isArgument := strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") && strings.Count(b[:j], "(") > strings.Count(b[:j], ")")
			if j > 0 && b[j-1] == '.' || isKey || isArgument || strings.HasPrefix(rest, "(") || strings.Contains(b, "import") || strings.Contains(b, "require(") || strings.Contains(b, "{ "+b[j:k]) {
				names[b[j:k]] = b[j:k]
			}
			j = k
		}
	}
}

func renameText(path, text string, names map[string]string) string {
	m := mask(text, languageOf(path))
	var out strings.Builder
	for i := 0; i < len(text); {
		if !isIdentByte(m.bare[i]) || m.bare[i] != text[i] {
			out.WriteByte(text[i])
			i++
			continue
		}
		j := i
		for j < len(text) && isIdentByte(m.bare[j]) {
			j++
		}
		word := text[i:j]
		if to := names[word]; to != "" && (i == 0 || text[i-1] != '.') {
			word = to
		}
		out.WriteString(word)
		i = j
	}
	return out.String()
}
