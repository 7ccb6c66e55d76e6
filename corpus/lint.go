package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/youden-bench/youden/corpus/syntax"
)

// Severity says whether a problem spoils what is measured.
type Severity string

// The severities. An error makes scores on the case meaningless or lets a
// detector read the answer; a warning wants a look.
const (
	LintError   Severity = "error"
	LintWarning Severity = "warning"
)

// Rule names a check of Lint.
type Rule string

// The rules.
const (
	RuleID          Rule = "id"              // the id is not lower-case letters, digits and hyphens
	RuleSyntax      Rule = "syntax"          // a file does not parse
	RuleNoGrammar   Rule = "no-grammar"      // files that this build cannot parse
	RuleTelling     Rule = "telling-name"    // a name or comment gives the answer away
	RuleWideSpan    Rule = "wide-span"       // a span of more than 20 lines
	RuleLabel       Rule = "label-defect"    // the label contradicts the files
	RuleIdentical   Rule = "identical-sides" // both sides hold the same text
	RuleUnscorable  Rule = "unscorable"      // nothing to look at, or no language that detectors read
	RuleDuplicate   Rule = "duplicate"       // two cases hold the same text
	RuleExplanation Rule = "explanation"     // nothing says what the bug is
	RuleTrap        Rule = "trap"            // nothing says what makes the case hard
	RuleNewline     Rule = "newline"         // a line does not end in LF
	RuleUnused      Rule = "unused-file"     // a file belongs to no case
	RuleDrift       Rule = "drift"           // the sides differ where no label points
	RuleOrders      Rule = "orders"          // a text gives an order to its reader, or none does though declared
	RuleProof       Rule = "proof"           // a proof is missing that was promised, or cannot be run
	RuleReading     Rule = "reading"         // the record of blind readings is missing, cut short or unsettled
	RuleSize        Rule = "size"            // files, lines or spans outside what the catalog promises
	RuleCount       Rule = "count"           // fewer pairs than the catalog promises
	RuleHoldout     Rule = "holdout-share"   // a family gives more or less than its share to the holdout

	RuleNearDuplicate Rule = "near-duplicate" // two cases share much of their text
)

// maxSpanLines is the widest span that still points at something: a finding
// must not be right by accident.
const maxSpanLines = 20

// Problem is something that Lint found. File is the catalog or manifest, or a
// file below the case's directory; a line of 0 means the whole.
type Problem struct {
	Case     string   `json:"case"` // "" for a problem of the corpus
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Rule     Rule     `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

// String returns "file:line: severity: case: message (rule)".
func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Case != "" {
		at += ": case " + p.Case
	}
	return fmt.Sprintf("%s: %s: %s (%s)", at, p.Severity, p.Message, p.Rule)
}

// Lint checks the hygiene of a loaded corpus. Problems come case by case in the
// order of the corpus, those between cases last. In an imported set, whose text
// is somebody else's, matters of style are warnings.
func Lint(c *Corpus) []Problem {
	l := &linter{corpus: c, unparsed: map[string]int{}, copies: map[[2]*Case]bool{}}
	for _, k := range c.Cases {
		l.current = k
		l.identity()
		l.labels()
		l.prose()
		l.size()
		l.drift()
		l.orders()
		l.proof()
		l.reading()
		for _, name := range k.Sides() {
			for _, f := range k.Side(name).Files {
				l.file(name, f)
			}
		}
	}
	l.current = nil
	l.duplicates()
	l.nearDuplicates()
	l.keepsPromise()
	l.unused()
	l.grammars()
	return l.problems
}

type linter struct {
	corpus   *Corpus
	current  *Case
	problems []Problem
	unparsed map[string]int    // language -> files
	copies   map[[2]*Case]bool // cases reported as copies of one another
}

// at reports a problem of a file.
func (l *linter) at(file string, line int, rule Rule, severity Severity, format string, args ...any) {
	p := Problem{File: file, Line: line, Rule: rule, Severity: severity, Message: fmt.Sprintf(format, args...)}
	if l.current != nil {
		p.Case = l.current.ID
	}
	l.problems = append(l.problems, p)
}

// on reports a problem of the case where the catalog has it.
func (l *linter) on(k *Case, rule Rule, severity Severity, format string, args ...any) {
	before := l.current
	l.current = k
	where := l.corpus.places[k]
	l.at(where.file, where.line, rule, severity, format, args...)
	l.current = before
}

// style is the severity of what only the author of the text can mend.
func (l *linter) style() Severity {
	if l.corpus.Source == FromManifest {
		return LintWarning
	}
	return LintError
}

var idCharset = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (l *linter) identity() {
	if !idCharset.MatchString(l.current.ID) {
		l.on(l.current, RuleID, LintError, "id %q does not consist of lower-case letters, digits and single hyphens; rename it", l.current.ID)
	}
}

func (l *linter) labels() {
	k := l.current
	if k.Task == TaskAudit && k.identicalSides() {
		l.on(k, RuleIdentical, LintError, "both sides hold the same text; a detector cannot be right on both")
		return
	}
	l.unscorable()
	for _, s := range k.Spans {
		if lines := s.End - s.Start + 1; lines > maxSpanLines {
			l.at(path.Join(string(Vulnerable), s.File), s.Start, RuleWideSpan, LintWarning,
				"the span covers %d lines, more than %d; point at several narrow places instead", lines, maxSpanLines)
		}
	}
}

// unscorable reports what keeps the sides from being scored, once when it is the
// same on both.
func (l *linter) unscorable() {
	k, reported := l.current, ""
	for _, name := range k.Sides() {
		reason, detail := k.Unscorable(name)
		if reason == Scorable || detail == reported {
			continue
		}
		reported = detail
		_, elsewhere := k.Unscorable(name.other())
		if detail != elsewhere && !strings.HasPrefix(detail, fmt.Sprintf("the %s side ", name)) {
			detail = fmt.Sprintf("%s side: %s", name, detail)
		}
		if reason == LabelDefect {
			l.on(k, RuleLabel, LintError, "%s; correct the label", detail)
			continue
		}
		l.on(k, RuleUnscorable, LintError, "%s (%s)", detail, reason)
	}
}

// prose checks what explains the case to people; manifests have no place for it.
func (l *linter) prose() {
	if l.corpus.Source == FromManifest {
		return
	}
	if strings.TrimSpace(l.current.Explanation) == "" {
		l.on(l.current, RuleExplanation, LintError, "there is no explanation; say what is wrong and what mends it")
	}
	if strings.TrimSpace(l.current.Trap) == "" {
		l.on(l.current, RuleTrap, LintWarning, "there is no trap; say what makes the case hard")
	}
}

func (l *linter) file(name SideName, f File) {
	where := path.Join(string(name), f.Path)
	if line := strangeNewline(f.Text); line > 0 {
		l.at(where, line, RuleNewline, l.style(), "the line does not end in a plain LF; convert the file")
	}
	if l.current.Task != TaskAudit {
		return // the text of a plan or a change may speak of bugs
	}
	for _, t := range tellingIn(f) {
		l.at(where, t.line, RuleTelling, l.style(), "%q gives the answer away; rename or remove it", t.text)
	}
	l.syntax(where, f)
}

// strangeNewline returns the first line with a CR, or the last one when it has
// no LF; 0 when the file is tidy.
func strangeNewline(text []byte) int {
	if i := bytes.IndexByte(text, '\r'); i >= 0 {
		return bytes.Count(text[:i], []byte{'\n'}) + 1
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return bytes.Count(text, []byte{'\n'}) + 1
	}
	return 0
}

func (l *linter) syntax(where string, f File) {
	language := syntax.Language(f.Path)
	if language == "" || l.current.Fragment {
		return
	}
	parsed, err := syntax.Parse(language, f.Path, f.Text)
	switch {
	case errors.Is(err, syntax.ErrUnsupported):
		l.unparsed[language]++
	case err != nil:
		l.at(where, 0, RuleSyntax, l.style(), "%v", err)
	case !parsed.OK():
		fault := parsed.Faults[0]
		l.at(where, fault.Line, RuleSyntax, l.style(), "does not parse as %s at column %d: %s: %s; mend it, or declare fragment = true",
			language, fault.Column, fault.Message, fault.Excerpt)
	}
}

func (l *linter) grammars() {
	for _, language := range Languages() {
		if n := l.unparsed[language]; n > 0 {
			l.at(l.corpus.document(), 0, RuleNoGrammar, LintWarning,
				"%d %s files were not parsed: this program was built without cgo; lint with a build that has it", n, language)
		}
	}
}

// document is the name of the file that describes the corpus.
func (c *Corpus) document() string {
	if c.Source == FromManifest {
		return ManifestFile
	}
	return CatalogFile
}
