package measurements

import "github.com/youden-bench/youden/detector"

// add counts one run.
func (s *Spend) add(r RunRow) {
	s.Runs++
	switch r.Counts {
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
	if r.Status != string(detector.OK) {
		s.Statuses[r.Status]++
	}
	s.Unmapped += deref(r.Unmapped)
	s.DroppedItems += deref(r.DroppedItems)
	s.Calls += r.Calls
	s.Attempts += r.Attempts
	if r.PromptTokens == nil || r.CompletionTokens == nil {
		s.TokensUnknown++
	} else {
		s.PromptTokens = plus(s.PromptTokens, *r.PromptTokens)
		s.CompletionTokens = plus(s.CompletionTokens, *r.CompletionTokens)
		s.Tokens = plus(s.Tokens, *r.PromptTokens+*r.CompletionTokens)
	}
	if r.CostUSDMicros == nil {
		s.CostUnknown++
	} else {
		s.CostUSDMicros = plus(s.CostUSDMicros, *r.CostUSDMicros)
	}
}

func spendByFamily(runs []RunRow) map[familyKey]Spend {
	spend := map[familyKey]Spend{}
	for _, r := range runs {
		key := familyKey{r.Slice, r.Family}
		s := spend[key]
		s.add(r)
		spend[key] = s
	}
	return spend
}

func plus(total *int64, v int64) *int64 {
	if total != nil {
		v += *total
	}
	return &v
}
