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

// ordersWindow is how many lines are read together: comments run over lines,
// and may name their reader after the order as well as before.
const ordersWindow = 4

// comment matches what a line of a comment begins and ends with.
var comment = regexp.MustCompile(`^\s*(#+|//+|/\*+|\*+/?|--+|;+|<!--|"""|''')?|(\*/|-->|"""|''')\s*$`)

// ordersIn returns the line where a text gives an order to a reader, 0 when
// there is none.
func ordersIn(text []byte) int {
	lines := strings.Split(plainLetters(string(text)), "\n")
	hints := make([]hint, len(lines))
	for i, line := range lines {
		hints[i] = hintsIn(line)
	}
	order := func(from, to int) bool {
		all := hint(0)
		for _, h := range hints[from:to] {
			all |= h
		}
		return isOrder(lines[from:to], all)
	}
	for i := range lines {
		last := min(len(lines), i+ordersWindow)
		if !order(i, last) {
			continue
		}
		for i+1 < last && order(i+1, last) {
			i++
		}
		return i + 1
	}
	return 0
}

// isOrder reports whether lines hold an order, of the kinds that are hinted at.
func isOrder(lines []string, hints hint) bool {
	if hints == 0 {
		return false
	}
	var words []string
	for _, line := range lines {
		words = append(words, strings.Fields(comment.ReplaceAllString(line, " "))...)
	}
	text := strings.Join(words, " ")
	if hints&maybeCommand != 0 && commanding.MatchString(text) {
		return true
	}
	return hints&maybeReader != 0 && (addressed.MatchString(text) && (silencing.MatchString(text) || dismissing.MatchString(text)) ||
		linters.MatchString(text) && silencing.MatchString(text))
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
