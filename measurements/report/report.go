// Package report prints summaries of captures. It is opinionated about what may
// stand alone: an interval and a denominator stand beside every rate, the macro
// mean beside the pooled J, and the word simulated above everything that is. An
// unknown prints n/a and an unrun thing unrun, never 0. What comes from outside
// (ids, model names, details) is escaped for the format at hand.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// Format is a way of printing.
type Format string

// The formats.
const (
	Table    Format = "table"
	Markdown Format = "markdown"
	JSON     Format = "json"
	CSV      Format = "csv"
)

// ParseFormat reads a format's name.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case Table, Markdown, JSON, CSV:
		return f, nil
	}
	return "", fmt.Errorf("format %q is none of table, markdown, json, csv", s)
}

// By says what a row is.
type By string

// The rows.
const (
	ByFamily By = "family"
	BySlice  By = "slice"
	ByCase   By = "case"
	ByRun    By = "run"
)

// ParseBy reads the name of a view.
func ParseBy(s string) (By, error) {
	switch b := By(s); b {
	case ByFamily, BySlice, ByCase, ByRun:
		return b, nil
	}
	return "", fmt.Errorf("a table is by family, slice, case or run, not by %q", s)
}

// NeedsRuns reports whether such rows are made of the rows of runs, which a summary
// holds only where they were asked for.
func (b By) NeedsRuns() bool { return b == ByCase || b == ByRun }

// Options choose what is printed.
type Options struct {
	By    By  // "" = by family
	Width int // columns of the terminal, for tables; 0 = as wide as it gets
	// Comparison and Gates are what a capture came to when it ended. They are part of
	// its JSON; the other formats print them apart.
	Comparison *compare.Comparison
	Gates      compare.GateResults
}

// Write prints captures: several stand side by side where they may be compared,
// and below each other where not.
func Write(w io.Writer, f Format, captures []measurements.Summary, o Options) error {
	if len(captures) == 0 {
		return fmt.Errorf("there is no capture to print; name a capture's directory")
	}
	if o.By == "" {
		o.By = ByFamily
	}
	if _, err := ParseBy(string(o.By)); err != nil {
		return err
	}
	var out string
	var err error
	switch f {
	case Table:
		out = page(captures, o, paper{text: Plain, table: func(g grid) string { return textTable(g, o.Width) }})
	case Markdown:
		out = page(captures, o, paper{text: markdownText, table: markdownTable, markdown: true})
	case JSON:
		out, err = jsonText(captures, o)
	case CSV:
		out, err = csvTable(captures, o)
	default:
		_, err = ParseFormat(string(f))
	}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, out); err != nil {
		return fmt.Errorf("printing a summary: %w", err)
	}
	return nil
}

// paper is a format for people.
type paper struct {
	text     func(string) string
	table    func(grid) string
	markdown bool
	width    int // of a line of text; 0 = any
}

// paragraph prints lines: in Markdown as a list, so that they do not run
// together.
func (p paper) paragraph(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if p.markdown {
			b.WriteString("- ")
		}
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}

// page prints captures for people.
func page(captures []measurements.Summary, o Options, p paper) string {
	if len(captures) > 1 && o.By == ByFamily && alike(captures) {
		return sideBySide(captures, p)
	}
	var parts []string
	for i := range captures {
		s := &captures[i]
		parts = append(parts, p.paragraph(banner(s, p.text))+"\n"+p.table(gridOf(s, o.By))+"\n"+p.paragraph(notes(s, o.By, p.text)))
	}
	return strings.Join(parts, "\n")
}

// gridOf builds the grid for people of one capture.
func gridOf(s *measurements.Summary, by By) grid {
	switch by {
	case BySlice:
		return shown(sliceColumns(), sliceRows(s))
	case ByCase:
		return shown(caseColumns(), caseRows(s))
	case ByRun:
		return shown(runColumns(), runRows(s))
	}
	return shown(familyColumns(), familyRows(s))
}

func familyRows(s *measurements.Summary) []familyRow {
	var rows []familyRow
	for _, f := range s.Families {
		rows = append(rows, familyRow{f, s})
	}
	return rows
}

func sliceRows(s *measurements.Summary) []sliceRow {
	var rows []sliceRow
	for _, a := range s.Slices {
		rows = append(rows, sliceRow{a, a.Slice, s})
	}
	return append(rows, sliceRow{s.Totals.Aggregate, "(all)", s})
}

func caseRows(s *measurements.Summary) []caseRow {
	var rows []caseRow
	spend := measurements.SpendByCase(s.Runs)
	for _, c := range s.Cases {
		rows = append(rows, caseRow{c, spend[c.Key()], s})
	}
	return rows
}

func runRows(s *measurements.Summary) []runRow {
	var rows []runRow
	for _, r := range s.Runs {
		rows = append(rows, runRow{r, s})
	}
	return rows
}
