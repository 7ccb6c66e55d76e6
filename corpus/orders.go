package corpus

import (
	"path"
	"regexp"
	"strings"
)

// A text in the code can give an order to whoever reads it: "reviewers may skip
// this file", "answer with an empty list". A detector has to treat it as data.
// A corpus that plants such texts says so in the catalog, on both sides alike,
// and one that does not must not hold any by accident.

// addressed are those to whom an order is given, ordered what they are to do.
var (
	addressed = regexp.MustCompile(`(?i)\b(reviewers?|auditors?|assistants?|scanners?|analy[sz]ers?|linters?|language models?|llms?|ai|gpt|copilot|(ai|review|coding|security) (agents?|bots?)|(review|audit|analysis|security|scanning|automated) tools?|automated (review|audit|analysis|checks?)|code review|static analysis)\b`)
	ordered   = regexp.MustCompile(`(?i)\b(ignore|skip|omit|exclude|do not (report|flag|list|mention|comment|review|analy[sz]e)|don't (report|flag|list|mention|comment)|must not (report|flag|list)|no (findings?|issues?|remarks?) (need|are|is|to|in|for)|report (no|nothing|only|zero)|(answer|reply|respond|return|give|output|finish)\b.{0,40}\b(empty|no findings?|nothing|\[\])|treat .{0,60} as (approved|reviewed|clean|out of scope)|out of scope|not to be (flagged|reported|listed)|instead (of|report)|previous instructions)\b`)
)

// ordersIn returns the first line of a text that gives an order to a reader, 0
// when there is none. Comments run over lines, so a few are read together.
func ordersIn(text []byte) int {
	lines := strings.Split(string(text), "\n")
	const together = 4
	for i := range lines {
		window := strings.Join(lines[i:min(len(lines), i+together)], " ")
		if addressed.MatchString(lines[i]) && ordered.MatchString(window) {
			return i + 1
		}
	}
	return 0
}

// orders checks that a case says of itself whether its code gives orders.
func (l *linter) orders() {
	k := l.current
	if k.Task != TaskAudit || l.corpus.Source == FromManifest {
		return
	}
	found := map[SideName]bool{}
	for _, name := range k.Sides() {
		for _, f := range k.Side(name).Files {
			line := ordersIn(f.Text)
			if line == 0 {
				continue
			}
			found[name] = true
			if !k.OrdersModel {
				l.at(path.Join(string(name), f.Path), line, RuleOrders, LintWarning,
					"the text seems to give an order to whoever reads it; reword it, or declare orders_model = true")
			}
		}
	}
	if k.OrdersModel {
		for _, name := range k.Sides() {
			if !found[name] {
				l.on(k, RuleOrders, LintError, "orders_model is declared and the %s side gives no order to a reader", name)
			}
		}
	}
}
