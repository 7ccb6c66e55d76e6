package ledger

import (
	"encoding/json"
	"fmt"
)

// Record is one leaf of the ledger. Exactly one of the pointers is set.
// Timestamps are Unix nanoseconds.
type Record struct {
	At            int64          `json:"at"`
	Store         *StoreMade     `json:"store,omitempty"`
	Open          *Opened        `json:"open,omitempty"`
	Dispatch      *Dispatch      `json:"dispatch,omitempty"`
	Observation   *Observation   `json:"observation,omitempty"`
	NotSent       *NotSent       `json:"not_sent,omitempty"`
	Indeterminate *Indeterminate `json:"indeterminate,omitempty"`
	Resolution    *Resolution    `json:"resolution,omitempty"`
}

// StoreMade is the first leaf: it makes the attempt ids of two ledgers differ.
type StoreMade struct {
	ID     Digest `json:"id"`
	Schema string `json:"schema"`
}

// Opened says that a process became the writer.
type Opened struct {
	Generation uint64 `json:"generation"`
	PID        int    `json:"pid"`
}

// Dispatch says that an attempt is about to be sent. It is durable before the
// first byte leaves, and holds all that the attempt's identity is made of.
type Dispatch struct {
	Attempt    Digest    `json:"attempt"`
	Seq        uint32    `json:"seq"`
	Parent     *Digest   `json:"parent,omitempty"`
	Generation uint64    `json:"generation"`
	Sample     Digest    `json:"sample"`
	Scope      string    `json:"scope"`
	Index      uint32    `json:"index"`
	Epoch      uint32    `json:"epoch,omitempty"`
	Call       Digest    `json:"call"`
	Adapter    AdapterID `json:"adapter"`
	Endpoint   Endpoint  `json:"endpoint"`
	Method     string    `json:"method"`
	Path       string    `json:"path"`
	Request    Digest    `json:"request"` // SHA-256 of the body
}

// Usage counts tokens as the provider reported them; nil = not reported.
type Usage struct {
	Prompt     *int64 `json:"prompt,omitempty"`
	Completion *int64 `json:"completion,omitempty"`
	Reasoning  *int64 `json:"reasoning,omitempty"`
	Cached     *int64 `json:"cached,omitempty"`
}

// Observation is a complete HTTP answer. It never changes.
type Observation struct {
	Attempt    Digest            `json:"attempt"`
	HTTP       int               `json:"http"`
	Header     map[string]string `json:"header,omitempty"`   // an allow-list of the adapter
	Response   Digest            `json:"response"`           // SHA-256 of the body as stored
	Cut        bool              `json:"cut,omitempty"`      // the body was longer, we stopped reading
	Redacted   bool              `json:"redacted,omitempty"` // the body echoed a key, which was taken out
	Final      bool              `json:"final"`              // answers the sample for good
	Outcome    string            `json:"outcome"`            // the adapter's reading
	Usage      *Usage            `json:"usage,omitempty"`
	CostMicros *int64            `json:"cost_usd_micros,omitempty"` // nil = unknown
	Sent       int64             `json:"sent"`
	Received   int64             `json:"received"`
}

// NotSent says that no byte of the attempt reached the endpoint.
type NotSent struct {
	Attempt Digest `json:"attempt"`
	Outcome string `json:"outcome"`
	Cause   string `json:"cause"`
}

// Indeterminate says that an attempt was sent and its fate is unknown: it may
// have been executed and paid.
type Indeterminate struct {
	Attempt Digest  `json:"attempt"`
	Outcome string  `json:"outcome"`
	Cause   string  `json:"cause"`
	Partial *Digest `json:"partial,omitempty"` // SHA-256 of what arrived
	Orphan  bool    `json:"orphan,omitempty"`  // the process that sent it ended first
}

// Resolution says who decided about an indeterminate attempt, and how.
type Resolution struct {
	Attempt Digest `json:"attempt"`
	To      string `json:"to"` // "retry"
	Actor   string `json:"actor"`
	Reason  string `json:"reason"`
}

// Leaf is a record as it is stored: the n-th, 1-based, and its exact bytes,
// which is what a hash tree covers.
type Leaf struct {
	N    int64
	Data []byte
}

// Record decodes the leaf.
func (l Leaf) Record() (Record, error) {
	var r Record
	if err := json.Unmarshal(l.Data, &r); err != nil {
		return Record{}, fmt.Errorf("leaf %d does not decode: %w: the ledger is damaged", l.N, err)
	}
	return r, nil
}

func (r Record) encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a record: %w", err)
	}
	return data, nil
}

// attempt returns the attempt that the record speaks of.
func (r Record) attempt() (Digest, bool) {
	switch {
	case r.Dispatch != nil:
		return r.Dispatch.Attempt, true
	case r.Observation != nil:
		return r.Observation.Attempt, true
	case r.NotSent != nil:
		return r.NotSent.Attempt, true
	case r.Indeterminate != nil:
		return r.Indeterminate.Attempt, true
	case r.Resolution != nil:
		return r.Resolution.Attempt, true
	}
	return Digest{}, false
}
