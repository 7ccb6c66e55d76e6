package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/youden-bench/youden/measurements"
)

// mostLatency bounds a latency: 11 days in milliseconds.
const mostLatency = 1e9

// fault says what no baseline or capture that this program wrote has: whoever edits
// one by hand must not get a number that means nothing. It is "" for a sound one.
func (s *Subject) fault() string {
	if !s.valid() || spendsLess(s.Spend) {
		return "counts runs that cannot be"
	}
	for _, n := range s.Models {
		if n < 0 {
			return "counts runs that cannot be"
		}
	}
	for _, l := range []*float64{s.LatencyP50, s.LatencyP95} {
		if l != nil && !(*l >= 0 && *l <= mostLatency) {
			return fmt.Sprintf("has a latency of %g ms", *l)
		}
	}
	if s.K < 1 || s.K > measurements.MaxK {
		return fmt.Sprintf("has k %d: a baseline has 1 to %d runs a side", s.K, measurements.MaxK)
	}
	if !KnownGrade(s.Grade) {
		return fmt.Sprintf("has grade %q, which is none of E0 to E5", s.Grade)
	}
	switch s.Status {
	case "", measurements.Unrun, measurements.Running, measurements.Complete, measurements.Partial:
	default:
		return fmt.Sprintf("has status %q, which is none of unrun, running, complete, partial", s.Status)
	}
	if _, err := measurements.ParsePolicy(string(s.Policy)); err != nil {
		return "has a " + err.Error()
	}
	if _, err := measurements.ParseView(string(s.View)); err != nil {
		return "has a " + err.Error()
	}
	if err := s.Capabilities.Check(); err != nil {
		return "has a capability record that is none: " + err.Error()
	}
	seen := make(map[string]bool, len(s.Cases))
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.Hash == "" || seen[c.Hash] {
			return fmt.Sprintf("has a case number %d (%q) without a hash of its own", i+1, c.ID)
		}
		seen[c.Hash] = true
	}
	return ""
}

// KnownGrade reports whether a grade of evidence is one: E0 to E5.
func KnownGrade(g string) bool { return len(g) == 2 && g[0] == 'E' && g[1] >= '0' && g[1] <= '5' }

// spendsLess reports whether something was spent less than not at all.
func spendsLess(s measurements.Spend) bool {
	counts := []int64{
		s.Runs, s.RunsOK, s.RunsCharged, s.RunsExcused, s.Unmapped, s.DroppedItems, s.Calls, s.Attempts,
		s.TokensUnknown, s.CachedUnknown, s.ReasoningUnknown, s.CostUnknown,
	}
	for _, n := range []*int64{s.PromptTokens, s.CompletionTokens, s.Tokens, s.CachedTokens, s.ReasoningTokens, s.CostUSDMicros} {
		if n != nil {
			counts = append(counts, *n)
		}
	}
	for _, n := range s.Statuses {
		counts = append(counts, n)
	}
	for _, n := range counts {
		if n < 0 {
			return true
		}
	}
	return false
}

// jsonScope is an object or a list that is being read.
type jsonScope struct {
	keys map[string]bool // of an object; nil = a list
	key  bool            // a key comes next
	free bool            // keys are what somebody else called things
	last string          // the last key
}

// freeKeys are the objects whose keys are names of models and the like. Of all
// others encoding/json takes "K" for "k".
var freeKeys = []string{"models", "statuses", "parameters"}

// repeatedKey finds a key that an object of a document has twice, and where:
// encoding/json lets the last one win, and a reader sees the first. The key is ""
// when there is none.
func repeatedKey(data []byte) (key string, at int64, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	var open []jsonScope
	for first := true; first || len(open) > 0; first = false {
		token, err := dec.Token()
		if err != nil {
			return "", 0, err
		}
		if delim, ok := token.(json.Delim); ok {
			free := false
			if in := len(open) - 1; in >= 0 {
				free = open[in].free || slices.Contains(freeKeys, open[in].last)
			}
			switch delim {
			case '{':
				open = append(open, jsonScope{keys: map[string]bool{}, key: true, free: free})
				continue
			case '[':
				open = append(open, jsonScope{free: free})
				continue
			}
			open = open[:len(open)-1]
		} else if in := len(open) - 1; in >= 0 && open[in].key {
			name := token.(string)
			if !open[in].free {
				name = strings.ToLower(name)
			}
			if open[in].keys[name] {
				return name, dec.InputOffset(), nil
			}
			open[in].keys[name], open[in].key, open[in].last = true, false, name
			continue
		}
		if in := len(open) - 1; in >= 0 {
			open[in].key = open[in].keys != nil
		}
	}
	return "", 0, nil
}
