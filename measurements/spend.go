package measurements

import "github.com/youden-bench/youden/detector"

// add counts one run.
func (s *Spend) add(e *entry) {
	s.Runs++
	switch e.counts {
	case "yes":
		s.RunsOK++
	case "charged":
		s.RunsCharged++
	default:
		s.RunsExcused++
	}
	if s.Statuses == nil {
		s.Statuses = map[string]int64{}
	}
	if e.status != string(detector.OK) {
		s.Statuses[e.status]++
	}
	s.Unmapped += e.unmapped
	s.DroppedItems += e.dropped
	s.Calls += e.calls
	s.Attempts += e.attempts
	if e.prompt.known && e.completion.known {
		plus(&s.PromptTokens, e.prompt.value)
		plus(&s.CompletionTokens, e.completion.value)
		plus(&s.Tokens, e.prompt.value+e.completion.value)
	} else {
		s.TokensUnknown++
	}
	known := func(total **int64, unknown *int64, part maybe[int64]) {
		if part.known {
			plus(total, part.value)
		} else {
			*unknown++
		}
	}
	known(&s.CachedTokens, &s.CachedUnknown, e.cached)
	known(&s.ReasoningTokens, &s.ReasoningUnknown, e.reasoning)
	known(&s.CostUSDMicros, &s.CostUnknown, e.cost)
}

// familySpend sums up what the runs of each family cost.
type familySpend map[familyKey]*Spend

func (f familySpend) add(e *entry) {
	key := familyKey{e.slice, e.family}
	s, ok := f[key]
	if !ok {
		s = &Spend{}
		f[key] = s
	}
	s.add(e)
}

// of returns the sum of a family, which may have no run.
func (f familySpend) of(key familyKey) Spend {
	if s, ok := f[key]; ok {
		return *s
	}
	return Spend{}
}

// CaseKey names a case of a capture.
type CaseKey struct{ Slice, ID, Hash string }

// Key names the case.
func (c CaseScore) Key() CaseKey { return CaseKey{c.Slice, c.ID, c.Hash} }

// SpendByCase sums up what the runs of each case cost.
func SpendByCase(runs []RunRow) map[CaseKey]Spend {
	spend := map[CaseKey]Spend{}
	for i := range runs {
		e := runs[i].entry()
		key := CaseKey{e.slice, e.caseID, e.caseHash}
		s := spend[key]
		s.add(&e)
		spend[key] = s
	}
	return spend
}

func plus(total **int64, v int64) {
	if *total == nil {
		*total = new(int64)
	}
	**total += v
}
