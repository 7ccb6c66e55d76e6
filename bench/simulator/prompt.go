package simulator

import (
	"regexp"
	"strconv"
	"strings"
)

// prompt is a conversation taken apart: what the reader is told, and the code
// it is shown. Everything between BEGIN and END markers is code, whatever it
// says; everything else is prompt.
type prompt struct {
	instruction string   // what the reader is told, without contract and family list
	contract    string   // the answer section
	asked       []string // family ids in order of appearance
	files       []*sourceFile
	shown       string // paths and texts outside code, for the noise digest
}

var (
	beginFile  = regexp.MustCompile(`^===== BEGIN FILE ([0-9a-f]{16}) ("(?:[^"\\]|\\.)*") =====\s*$`)
	numbered   = regexp.MustCompile(`^\s*(\d+) \| ?(.*)$`)
	loose      = regexp.MustCompile(`^\s*(\d+)\s*[:|]\t? ?(.*)$`)
	familyLine = regexp.MustCompile(`^\s*[-*]\s+[` + "`" + `"*]{0,2}([a-z_]+)[` + "`" + `"*]{0,2}\s*(?::|$)\s*(.*)$`)
	fenceLine  = regexp.MustCompile("^\\s*```+\\s*([\\w+-]*)\\s*$")
	pathWord   = regexp.MustCompile(`[\w@.+-]+(?:/[\w@.+-]+)*\.\w{1,6}\b`)
)

// parseBlocks cuts marked file blocks out of text. The closing marker must
// carry the token of the opening one; without it the rest is code.
func parseBlocks(text string) (rest string, files []*sourceFile) {
	if !strings.Contains(text, "===== BEGIN FILE ") {
		return text, nil
	}
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := beginFile.FindStringSubmatch(lines[i])
		if m == nil {
			out = append(out, lines[i])
			continue
		}
		name, err := strconv.Unquote(m[2])
		if err != nil {
			name = strings.Trim(m[2], `"`)
		}
		end := "===== END FILE " + m[1] + " ====="
		j := i + 1
		for j < len(lines) && strings.TrimRight(lines[j], " \r") != end {
			j++
		}
		files = append(files, newSourceFile(name, lines[i+1:j], numbered))
		i = j
	}
	return strings.Join(out, "\n"), files
}

func newSourceFile(name string, shown []string, form *regexp.Regexp) *sourceFile {
	f := &sourceFile{path: name, lang: languageOf(name)}
	for i, line := range shown {
		n, text := i+1, line
		if m := form.FindStringSubmatch(line); m != nil {
			if v, err := strconv.Atoi(m[1]); err == nil {
				n, text = v, m[2]
			}
		}
		f.lines = append(f.lines, strings.TrimRight(text, "\r"))
		f.numbers = append(f.numbers, n)
	}
	return f
}

// parseFences takes fenced code out of text that has no marked blocks.
func parseFences(text string) (rest string, files []*sourceFile) {
	if !strings.Contains(text, "```") {
		return text, nil
	}
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := fenceLine.FindStringSubmatch(lines[i])
		if m == nil {
			out = append(out, lines[i])
			continue
		}
		j := i + 1
		for j < len(lines) && !fenceLine.MatchString(lines[j]) {
			j++
		}
		name := ""
		for k := len(out) - 1; k >= 0 && k > len(out)-3 && name == ""; k-- {
			name = pathWord.FindString(out[k])
		}
		f := newSourceFile(name, lines[i+1:j], numbered)
		if f.lang == langOther {
			f.lang = guessLanguage(m[1], strings.Join(lines[i+1:j], "\n"))
		}
		if name == "" {
			f.path = "snippet" + strconv.Itoa(len(files)+1)
		}
		files = append(files, f)
		i = j
	}
	return strings.Join(out, "\n"), files
}

// parsePrompt takes the conversation apart. Results of tools are code only.
func parsePrompt(messages []message, lex *lexicon) *prompt {
	p := &prompt{}
	calls := map[string]toolCall{}
	var told []string
	for _, m := range messages {
		for _, c := range m.toolCalls {
			calls[c.id] = c
		}
		if m.role == "assistant" {
			continue
		}
		rest, files := parseBlocks(m.text)
		if m.role == "tool" && len(files) == 0 {
			files = looseFiles(m.text, calls[m.toolCallID])
		}
		p.files = append(p.files, files...)
		if m.role != "tool" {
			told = append(told, rest)
		}
	}
	if len(p.files) == 0 {
		for i := range told {
			rest, files := parseFences(told[i])
			p.files = append(p.files, files...)
			told[i] = rest
		}
	}
	p.files = uniqueFiles(p.files)
	p.shown = strings.Join(told, "\x00")
	p.split(told, lex)
	return p
}

// uniqueFiles keeps the first showing of a path and text.
func uniqueFiles(files []*sourceFile) []*sourceFile {
	seen := map[[32]byte]bool{}
	var out []*sourceFile
	for _, f := range files {
		key := hashOf(f.path, strings.Join(f.lines, "\n"))
		if !seen[key] {
			seen[key] = true
			out = append(out, f)
		}
	}
	return out
}

// looseFiles reads a tool result of numbered lines without markers; the path
// is the argument of the call that it answers.
func looseFiles(text string, call toolCall) []*sourceFile {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	hits := 0
	for _, l := range lines {
		if loose.MatchString(l) {
			hits++
		}
	}
	if hits == 0 || hits*10 < len(lines)*8 {
		return nil
	}
	name := pathWord.FindString(call.arguments)
	if name == "" {
		name = "result"
	}
	return []*sourceFile{newSourceFile(name, lines, loose)}
}

// split separates the family list and the answer contract from the
// instruction: they are the same for every prompt and teach nothing.
func (p *prompt) split(told []string, lex *lexicon) {
	var instruction, contract strings.Builder
	seen := map[string]bool{}
	for _, text := range told {
		inContract := false
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "## ") {
				inContract = strings.HasPrefix(strings.ToLower(line), "## answer")
			}
			if inContract {
				contract.WriteString(line + "\n")
				continue
			}
			if m := familyLine.FindStringSubmatch(line); m != nil {
				if f, ok := lex.byID[m[1]]; ok {
					if !seen[m[1]] {
						seen[m[1]] = true
						p.asked = append(p.asked, m[1])
					}
					if m[2] == "" || strings.TrimSpace(m[2]) == lex.Families[f].What {
						continue
					}
				}
			}
			instruction.WriteString(line + "\n")
		}
	}
	p.instruction, p.contract = instruction.String(), contract.String()
	if len(p.asked) == 0 {
		p.asked = mentionedFamilies(p.instruction+p.contract, lex)
	}
}

func mentionedFamilies(text string, lex *lexicon) []string {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWordRune(r) }) {
		words[w] = true
	}
	var some, all []string
	for _, f := range lex.Families {
		all = append(all, f.ID)
		if words[f.ID] {
			some = append(some, f.ID)
		}
	}
	if len(some) > 0 {
		return some
	}
	return all
}
