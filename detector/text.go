package detector

import (
	"fmt"

	"github.com/youden-bench/youden/corpus/family"
)

// Text is a named part of what a detector's hash covers, by a hash of its own: two
// detectors that differ can say in which of their texts.
type Text struct {
	Name string
	Hash string
}

// The names of the parts that are no lever.
const (
	settingsText = "settings" // program, task, families, format of the answer and budget
	programText  = "program"  // the program's own wording and the version of its reader
)

// Texts lists what Hash covers, in a fixed order: the settings, each lever that
// speaks to a family of d, the overrides of single families as family/lever, and
// what the program adds.
func (d *Detector) Texts(p Program) []Text {
	settings := []string{d.Program, d.Task, d.ResponseFormat, fmt.Sprint(d.Budget.MaxTokens), fmt.Sprint(d.Budget.MaxInputBytes)}
	for _, f := range d.Families {
		settings = append(settings, string(f))
	}
	list := []Text{{settingsText, digest(settings...)}}
	var own []Text
	for _, l := range LeverNames() {
		shared := false
		for _, f := range d.Families {
			if text, overridden := d.Levers.Override[f][l]; overridden {
				own = append(own, Text{string(f) + "/" + string(l), digest(text)})
			} else {
				shared = true
			}
		}
		if text, ok := d.Levers.Shared[l]; ok && shared {
			list = append(list, Text{string(l), digest(text)})
		}
	}
	list = append(list, own...)
	return append(list, Text{programText, digest(leverless(p)...)})
}

// leverless are the texts of a program as they would be with fixed levers and
// settings, so that a change of a lever is not also one of the program. A program
// whose texts hold no lever has the same anyway.
func leverless(p Program) []string {
	if o, ok := p.(*Oneshot); ok {
		return o.withFixed().Texts()
	}
	return p.Texts()
}

// withFixed is the program with every lever and setting the same, whatever the
// detector's are: all its wording shows, that around examples and overrides too.
func (o *Oneshot) withFixed() *Oneshot {
	const example = `{"code": "-", "why": "-", "line": 1}`
	levers := map[Lever]string{Prompt: "-", Checklist: "-", HardNegatives: example, Counterexamples: example}
	fixed := &Detector{ResponseFormat: "json_schema", Levers: Levers{Shared: levers}}
	for _, f := range o.taxonomy.Families() {
		fixed.Families = append(fixed.Families, f.ID)
	}
	fixed.Levers.Override = map[family.ID]map[Lever]string{fixed.Families[0]: levers}
	return &Oneshot{detector: fixed, taxonomy: o.taxonomy}
}
