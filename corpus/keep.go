package corpus

import (
	"math"
	"path"

	"github.com/youden-bench/youden/corpus/family"
)

// keepsPromise holds the corpus to what its catalog says of it.
func (l *linter) keepsPromise() {
	p := l.corpus.Promise
	if p == nil {
		return
	}
	for _, n := range p.Least {
		count := 0
		for _, k := range l.corpus.Cases {
			if n.counts(k) {
				count++
			}
		}
		if count < n.Cases {
			l.at(CatalogFile, n.line, RuleCount, LintError, "%d %s were promised and there are %d; add pairs, or promise less", n.Cases, n, count)
		}
	}
	l.eachFamily(p)
	l.holdout(p)
}

func (l *linter) eachFamily(p *Promise) {
	if p.EachFamily == 0 {
		return
	}
	pairs := map[family.ID]int{}
	for _, k := range l.corpus.Cases {
		if k.IsPair() {
			pairs[k.Family]++
		}
	}
	for _, f := range l.corpus.Taxonomy.Families() {
		if (f.Default || l.corpus.MemorySafety) && pairs[f.ID] < p.EachFamily {
			l.at(CatalogFile, p.line("each_family"), RuleCount, LintError, "%d pairs of every family were promised and %s has %d; add pairs, or promise less", p.EachFamily, f.ID, pairs[f.ID])
		}
	}
}

// holdout asks that every family gives its share, to within one case: a family
// that lies in the holdout alone is scored without having been learned.
func (l *linter) holdout(p *Promise) {
	if p.HoldoutOf == 0 {
		return
	}
	cases, held := map[family.ID]int{}, map[family.ID]int{}
	all, allHeld := 0, 0
	for _, k := range l.corpus.Cases {
		if k.Task != TaskAudit {
			continue
		}
		cases[k.Family]++
		all++
		if k.Split == Holdout {
			held[k.Family]++
			allHeld++
		}
	}
	share := 1 / float64(p.HoldoutOf)
	for _, f := range l.corpus.Taxonomy.Families() {
		if want := share * float64(cases[f.ID]); math.Abs(float64(held[f.ID])-want) >= 1 {
			l.at(CatalogFile, p.line("holdout_one_in"), RuleHoldout, LintError, "one in %d of every family is to be held out, and of %s it is %d of %d; move cases of it between the splits, by group",
				p.HoldoutOf, f.ID, held[f.ID], cases[f.ID])
		}
	}
	if want := share * float64(all); math.Abs(float64(allHeld)-want) > math.Max(1, 0.05*float64(all)) {
		l.at(CatalogFile, p.line("holdout_one_in"), RuleHoldout, LintError, "one in %d cases is to be held out, and it is %d of %d; move cases between the splits, by group", p.HoldoutOf, allHeld, all)
	}
}

// size holds a case to the promised number of files, lines and lines of a span.
func (l *linter) size() {
	p, k := l.corpus.Promise, l.current
	if p == nil {
		return
	}
	for _, name := range k.Sides() {
		files := k.Side(name).Files
		if p.Files > 0 && len(files) > p.Files {
			l.on(k, RuleSize, LintError, "the %s side has %d files, and %s promises at most %d; leave some out, or promise more", name, len(files), p.source("files"), p.Files)
		}
		for _, f := range files {
			if n := f.Lines(); p.Lines[1] > 0 && (n < p.Lines[0] || n > p.Lines[1]) {
				l.at(path.Join(string(name), f.Path), 0, RuleSize, LintError, "the file has %d lines, and %s promises %d to %d; change the file, or promise a wider range",
					n, p.source("lines"), p.Lines[0], p.Lines[1])
			}
		}
	}
	if p.SpanLines == 0 {
		return
	}
	for _, s := range k.Spans {
		if n := s.End - s.Start + 1; n > p.SpanLines {
			l.at(path.Join(string(Vulnerable), s.File), s.Start, RuleSize, LintError, "the span covers %d lines, and %s promises at most %d; point at several narrow places, or promise more",
				n, p.source("span_lines"), p.SpanLines)
		}
	}
}

// reading checks the record of the blind readings.
func (l *linter) reading() {
	k, v := l.current, l.current.Vetted
	if p := l.corpus.Promise; p != nil && p.ReadBlind && k.IsPair() && v.First == Unread {
		l.on(k, RuleReading, LintError, "the pair was not read blind; let somebody who did not write it read it, and record vetted.first")
	}
	if v.First == Unread {
		l.lateReading()
		return
	}
	if v.First == Disputed && len(v.On) == 0 {
		l.on(k, RuleReading, LintWarning, "the record does not say what was disputed; add on = [...] to vetted")
	}
	if v.First == Disputed && v.Changed == "" && v.Again != Agreed && len(k.Residue) == 0 {
		l.on(k, RuleReading, LintError, "the first reading was disputed and nothing came of it; change the case and say so, record a residual, or let another reader agree")
	}
	switch {
	case v.Again == Disputed:
		l.on(k, RuleReading, LintError, "the last reading disputes the label; change the case and let it be read again")
	case v.Changed != "" && v.Again == Unread:
		severity := LintWarning
		if l.corpus.Promise != nil && l.corpus.Promise.ReadBlind {
			severity = LintError
		}
		l.on(k, RuleReading, severity, "the case was changed after its first reading (%s) and not read again; let another reader read it, and record vetted.again", v.First)
	}
}

// lateReading checks a record that begins in the middle: an outcome without the
// first reading hides how often the author was wrong.
func (l *linter) lateReading() {
	k, v := l.current, l.current.Vetted
	switch {
	case v.Again == Disputed:
		l.on(k, RuleReading, LintError, "a reading disputes the label and there is no first one; record it as first, and mend the case")
	case v.Again != Unread:
		l.on(k, RuleReading, LintWarning, "there is another reading and no first one; record in vetted.first what the first reader said")
	case v.Changed != "":
		l.on(k, RuleReading, LintWarning, "something was changed after a reading that is not on record; record it in vetted.first")
	}
}
