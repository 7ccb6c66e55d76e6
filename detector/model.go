package detector

import (
	"context"
	"encoding/json"
	"time"
)

// Model answers requests. A program calls it and knows no HTTP; an error of
// the endpoint is a Status of the answer, so that a program cannot mistake an
// outage for silence.
type Model interface {
	Complete(ctx context.Context, req Request) Answer
}

// Role says who speaks a message.
type Role string

// The roles of chat completions.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of a conversation.
type Message struct {
	Role       Role
	Content    string
	Reasoning  string          // an assistant's reasoning, replayed only where the provider wants it
	Replay     json.RawMessage // of the Answer that this turn is; it wins over Reasoning
	ToolCalls  []ToolCall      // of an assistant
	ToolCallID string          // of a tool's result
}

// Tool is a function that the model may call. Parameters is a JSON schema whose
// property order is kept.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// ToolCall is a call that the model asks for. Arguments are the raw text, which
// may be broken JSON: a program answers such a call with an error.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
	Raw       string // the text that came, when Arguments is its one repair; else ""
}

// Request is one call of a model. The model's name, temperature and token limit
// are the endpoint's, not the program's.
type Request struct {
	Messages       []Message
	Tools          []Tool
	ResponseFormat string // "", "json_object" or "json_schema"
	Schema         json.RawMessage
	Seed           int64 // what makes the K runs of a side K draws; 0..2^53-1
	MaxTokens      int   // 0 = the endpoint's limit
}

// Usage counts tokens as the provider reported them; nil = not reported.
type Usage struct {
	Prompt, Completion, Reasoning, Cached *int64
}

// Answer is what came back for one request. Exactly one Status holds; Text is
// the answer's text without any reasoning.
type Answer struct {
	Status    Status
	Detail    string // what went wrong, in plain words; empty for ok
	Text      string
	Reasoning string // recorded, never graded
	// Replay holds the members of the message in which the reasoning came. A
	// program that continues the conversation copies it into the assistant's
	// Message; nil = there is nothing to send back.
	Replay       json.RawMessage
	ToolCalls    []ToolCall
	FinishReason string
	Model        string // as returned
	Provider     string // behind a router, as returned
	Fingerprint  string
	Usage        Usage
	CostMicros   *int64 // micro-USD; nil = unknown
	Attempts     int    // requests that the endpoint needed for this answer, 0 when none left the process
	Receipt      string // identity of the attempt in the ledger
	Started      time.Time
	Latency      time.Duration
	Replayed     bool // taken from the ledger, nothing was sent
}
