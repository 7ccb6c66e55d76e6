package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/youden-bench/youden/corpus/syntax"
)

// ProofDir is the directory of a case's proof, beside its sides.
const ProofDir = "proof"

const (
	// interpreterCache is where Python leaves compiled code when somebody runs
	// a proof by hand. It is part of no proof.
	interpreterCache = "__pycache__"
	// goModule is go.mod as a proof spells it: a file of that name would cut its
	// directory out of a module that embeds it.
	goModule   = "go.mod.txt"
	moduleFile = "go.mod"
)

// proof reads the proof of a case; nil when there is none. A proof that cannot
// be read spoils neither the case nor the corpus: it comes back without files,
// and with what is wrong with it.
func (r *reader) proof(dir string) (proof *Side, defect string) {
	proof, err := r.side(dir, interpreterCache)
	if err == nil {
		return proof, ""
	}
	var bad *fileError
	if errors.As(err, &bad) && errors.Is(bad.err, fs.ErrNotExist) {
		err = &fileError{bad.path, bad.message, bad.remedy, nil} // the message says it already
	}
	return &Side{}, err.Error()
}

// proofEntries are the files that a proof can be started by.
var proofEntries = []string{"prove.py", "prove.mjs", "prove.cjs", goEntry}

// goEntry is the one that has to be compiled, and needs a module for that.
const goEntry = "cmd/prove/main.go"

// ProofDefect says why the proof of the case must not be run, or "": a file of
// it cannot be read, or takes the place of one of a side, or nothing says how
// to start it. What a proof replaces it does not test.
func (c *Case) ProofDefect() string {
	if c.proofDefect != "" || c.Proof == nil {
		return c.proofDefect
	}
	for _, name := range c.Sides() {
		for _, f := range c.Side(name).Files {
			for _, p := range c.Proof.Files {
				if how := hides(p.Path, f.Path); how != "" {
					return fmt.Sprintf("%s/%s %s %s of the %s side; a proof may only add files, so rename or remove it", ProofDir, p.Path, how, f.Path, name)
				}
			}
		}
	}
	return c.entryDefect()
}

// entryDefect says why it is not clear how to start the proof, or "".
func (c *Case) entryDefect() string {
	var entries []string
	for _, name := range proofEntries {
		if _, ok := c.Proof.File(name); ok {
			entries = append(entries, name)
		}
	}
	switch {
	case len(entries) == 0:
		return "the proof has no entry; add prove.py, prove.mjs, prove.cjs or " + goEntry
	case len(entries) == 2:
		return fmt.Sprintf("the proof has two entries, %s and %s; keep one", entries[0], entries[1])
	case len(entries) > 2:
		return fmt.Sprintf("the proof has %d entries, %s; keep one", len(entries), strings.Join(entries, ", "))
	case entries[0] == goEntry && !c.hasModule():
		return fmt.Sprintf("the proof has the entry %s and no module to compile it in; add %s/%s", goEntry, ProofDir, goModule)
	}
	return ""
}

// hasModule reports whether the proof brings a Go module or lies in one on every
// side.
func (c *Case) hasModule() bool {
	for _, name := range []string{goModule, moduleFile} {
		if _, ok := c.Proof.File(name); ok {
			return true
		}
	}
	for _, name := range c.Sides() {
		if _, ok := c.Side(name).File(moduleFile); !ok {
			return false
		}
	}
	return true
}

// hides says how a file of a proof takes the place of a file of a side, or "".
// Letter case does not count, since there are file systems to which it does not.
func hides(proof, side string) string {
	if proof == goModule {
		proof = moduleFile
	}
	proof, side = strings.ToLower(proof), strings.ToLower(side)
	switch {
	case proof == side:
		return "would replace"
	case strings.HasPrefix(side, proof+"/"), strings.HasPrefix(proof, side+"/"):
		return "needs the place of"
	case syntax.Language(side) == "":
		return ""
	}
	// An import names a module by its path without extension: a directory goes
	// before a file of the name in Python, a file before the index of a directory
	// in JavaScript, and one extension before another.
	stem, module := withoutExtension(proof), withoutExtension(side)
	if stem == module || strings.HasPrefix(proof, module+"/") || path.Base(module) == "index" && stem == path.Dir(module) {
		return "would be imported instead of"
	}
	return ""
}

func withoutExtension(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// proof checks that what is called proved can be proved, and what was promised
// to be. Whether the proof holds is for those who run it to say.
func (l *linter) proof() {
	k, severity := l.current, LintWarning
	if l.corpus.Promise != nil {
		severity = LintError
	}
	if defect := k.ProofDefect(); defect != "" {
		l.on(k, RuleProof, LintError, "%s", defect)
	}
	switch {
	case k.Proof == nil && k.Vetted.Level == Proved:
		l.on(k, RuleProof, severity, "the label is called proved and there is no %s directory; add the proof, or call the label read", ProofDir)
	case k.Proof == nil && l.corpus.Promise.needsProof(k):
		l.on(k, RuleProof, LintError, "a proof was promised for %s in %s; add one in %s/", k.Family, k.Language, ProofDir)
	case k.Proof != nil && !k.IsPair():
		l.on(k, RuleProof, LintError, "a proof compares two sides, and the case has one; remove it, or add the other side")
	case k.Proof != nil && k.Vetted.Level != Proved:
		l.on(k, RuleProof, LintWarning, "there is a proof and the label is called %s; call it proved once the proof holds", k.Vetted.Level)
	}
}
