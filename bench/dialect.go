package bench

import (
	"fmt"
	"time"

	"github.com/youden-bench/youden/bench/endpoint"
)

// DialectConfig says how an endpoint speaks, where that is not learned from it.
type DialectConfig struct {
	// Aliases give names to pinned models: --model fast = the model it stands for.
	Aliases map[string]string `toml:"aliases,omitempty" json:"aliases,omitempty"`
	// AllowParamDrop lets a refused temperature, seed or response_format be left
	// out, on record; true unless said.
	AllowParamDrop *bool `toml:"allow_param_drop,omitempty" json:"allow_param_drop,omitempty"`
	// Stream is auto (only where nothing else is taken), on or off.
	Stream string `toml:"stream,omitempty" json:"stream,omitempty"`
	// ToolContent is what stands beside tool calls: null, empty or omit.
	ToolContent string `toml:"tool_content,omitempty" json:"tool_content,omitempty"`
	// ReplayReasoning sends earlier reasoning back in the field that it came in; true
	// unless said.
	ReplayReasoning *bool `toml:"replay_reasoning,omitempty" json:"replay_reasoning,omitempty"`
	// AnswerFromReasoning makes the reasoning of an answer that says nothing else the
	// answer.
	AnswerFromReasoning bool `toml:"answer_from_reasoning,omitempty" json:"answer_from_reasoning,omitempty"`
	// PromptRatio is which share of the estimated prompt the endpoint must have taken
	// in; 0.6 unless said, negative = not checked.
	PromptRatio float64 `toml:"prompt_ratio,omitempty" json:"prompt_ratio,omitempty"`
	// MaxTokensFieldOpen says that nobody chose max_tokens_field, so that the one
	// that the endpoint takes may be learned.
	MaxTokensFieldOpen bool `toml:"-" json:"max_tokens_field_open,omitempty"`
}

// pinned resolves an alias.
func (d DialectConfig) pinned(model string) string {
	if name, ok := d.Aliases[model]; ok {
		return name
	}
	return model
}

// speak sets the options that the dialect is about.
func (d DialectConfig) speak(o *endpoint.Options) {
	if d.MaxTokensFieldOpen {
		o.MaxTokensField = ""
	}
	o.KeepParameters = d.AllowParamDrop != nil && !*d.AllowParamDrop
	o.Stream, o.ToolContent = d.Stream, d.ToolContent
	o.ForgetThoughts = d.ReplayReasoning != nil && !*d.ReplayReasoning
	o.AnswerFromReasoning, o.PromptRatio = d.AnswerFromReasoning, d.PromptRatio
}

// parameters are the settings that change requests or how answers are read, for the
// record: captures that differ in them are not comparable.
func (d DialectConfig) parameters(into map[string]any) {
	if d.AnswerFromReasoning {
		into["answer_from_reasoning"] = true
	}
}

// RetryConfig says how often and how long a call is tried again.
type RetryConfig struct {
	Max     *int   `toml:"max,omitempty" json:"max,omitempty"`           // further attempts of a call; 0 = none; 10 unless said
	Budget  string `toml:"budget,omitempty" json:"budget,omitempty"`     // from the first failure to the last attempt
	MaxWait string `toml:"max_wait,omitempty" json:"max_wait,omitempty"` // an endpoint that asks for longer ends the capture
}

func (r RetryConfig) parse(name string) (out endpoint.Retry, err error) {
	if r.Max != nil {
		if out.Max = *r.Max; out.Max < 0 {
			return out, fmt.Errorf("endpoint %s: retries.max = %d must not be negative; 0 means none", name, *r.Max)
		}
		if out.Max == 0 {
			out.Max = -1
		}
	}
	for _, d := range []struct {
		key, text string
		into      *time.Duration
	}{{"budget", r.Budget, &out.Budget}, {"max_wait", r.MaxWait, &out.MaxWait}} {
		if d.text == "" {
			continue
		}
		if *d.into, err = time.ParseDuration(d.text); err != nil || *d.into <= 0 {
			return out, fmt.Errorf("endpoint %s: retries.%s = %q is no duration; write such as \"90s\"", name, d.key, d.text)
		}
	}
	return out, nil
}

// Shown returns the settings with everything filled in that holds unless said.
func (c EndpointConfig) Shown() EndpointConfig { return c.withDefaults() }

// withVisibleTimes fills in the times that hold unless said, so that the manifest of
// a capture names all of them.
func (c EndpointConfig) withVisibleTimes() EndpointConfig {
	timeouts, retry := endpoint.Timeouts{}.Defaults(), endpoint.Retry{}.Defaults()
	for _, d := range []struct {
		text    *string
		natural time.Duration
	}{
		{&c.Timeouts.Connect, timeouts.Connect}, {&c.Timeouts.FirstByte, timeouts.FirstByte}, {&c.Timeouts.Idle, timeouts.Idle},
		{&c.Timeouts.Total, timeouts.Total}, {&c.Retries.Budget, retry.Budget}, {&c.Retries.MaxWait, retry.MaxWait},
	} {
		if *d.text == "" {
			*d.text = d.natural.String()
		}
	}
	return c
}
