package doctor

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/youden-bench/youden/measurements"
)

// models asks which models there are and how much fits the one, which costs
// nothing.
func (e *exam) models(ctx context.Context) {
	model := e.patient.Record.Model
	r := e.send(ctx, http.MethodGet, "/models", nil)
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	if r.status != http.StatusOK || json.Unmarshal(r.body, &list) != nil || list.Data == nil {
		e.note("models", measurements.Unprobed, "GET /models gives no list")
	} else {
		var found json.RawMessage
		for _, raw := range list.Data {
			var m struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(raw, &m) == nil && m.ID == model {
				found = raw
			}
		}
		switch {
		case found != nil:
			e.note("models", measurements.Honoured, "the list has %d models, this one among them", len(list.Data))
		default:
			e.note("models", measurements.Ignored, "the list has %d models and not this one", len(list.Data))
		}
		e.record.ContextTokens = contextIn(found)
	}
	if e.record.ContextTokens == nil {
		if r := e.send(ctx, http.MethodGet, "/models/"+url.PathEscape(model), nil); r.status == http.StatusOK {
			e.record.ContextTokens = contextIn(r.body)
		}
	}
}

// contextKeys are where servers say how much fits a model: OpenRouter, vLLM, Groq,
// LM Studio, llama.cpp.
var contextKeys = []string{"context_length", "max_model_len", "context_window", "loaded_context_length", "max_context_length", "n_ctx"}

// contextIn finds the length in the description of a model, at its top or in a
// part of it such as llama.cpp's meta.
func contextIn(raw json.RawMessage) *int64 {
	var top map[string]json.RawMessage
	if json.Unmarshal(raw, &top) != nil {
		return nil
	}
	parts := []map[string]json.RawMessage{top}
	for _, name := range []string{"meta", "top_provider"} {
		var part map[string]json.RawMessage
		if json.Unmarshal(top[name], &part) == nil {
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		for _, key := range contextKeys {
			var n int64
			if json.Unmarshal(part[key], &n) == nil && n > 0 {
				return &n
			}
		}
	}
	return nil
}
