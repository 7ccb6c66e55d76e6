package bench

import "github.com/youden-bench/youden/detector"

// redacted returns a trajectory in which clean has gone over every text that an
// endpoint can have written: a model may spell the key in escapes that only
// decoding undoes.
func redacted(t detector.Trajectory, clean func(string) string) detector.Trajectory {
	t.Detail = clean(t.Detail)
	for i := range t.Steps {
		s := &t.Steps[i]
		for _, text := range []*string{&s.Arguments, &s.Text, &s.Answer.Detail, &s.Answer.Text, &s.Answer.Reasoning, &s.Answer.FinishReason, &s.Answer.Model, &s.Answer.Fingerprint} {
			*text = clean(*text)
		}
		for j := range s.Answer.ToolCalls {
			call := &s.Answer.ToolCalls[j]
			call.ID, call.Name, call.Arguments = clean(call.ID), clean(call.Name), clean(call.Arguments)
		}
	}
	for i := range t.Findings {
		f := &t.Findings[i]
		for _, text := range []*string{&f.Label, &f.OWASP, &f.File, &f.Explanation, &f.Suggestion, &f.Model} {
			*text = clean(*text)
		}
		for j := range f.Tags {
			f.Tags[j] = clean(f.Tags[j])
		}
	}
	return t
}
