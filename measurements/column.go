package measurements

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/youden-bench/youden/detector"
)

// column says which part of an entry a column of runs.parquet is, by one function
// for its kind of values. A text lives as long as the page that it was read from, so
// that it is copied.
type column struct {
	name   string
	flag   func(*entry, bool)
	number func(*entry, int64)
	text   func(*entry, []byte)
}

// entryColumns lists the columns that tallies under these policies need; nulls are
// not set. The result remembers words and serves one reader.
func entryColumns(policies []Policy) []column {
	columns := []column{
		{name: "case_id", text: text(func(e *entry) *string { return &e.caseID })},
		{name: "case_hash", text: text(func(e *entry) *string { return &e.caseHash })},
		{name: "slice", text: word(func(e *entry) *string { return &e.slice })},
		{name: "family", text: word(func(e *entry) *string { return &e.family })},
		{name: "pair", flag: func(e *entry, v bool) { e.pair = v }},
		{name: "side", text: word(func(e *entry) *string { return &e.side })},
		{name: "k", number: func(e *entry, v int64) { e.k = v }},
		{name: "status", text: word(func(e *entry) *string { return &e.status })},
		{name: "counts", text: word(func(e *entry) *string { return &e.counts })},
		{name: "hit", flag: func(e *entry, v bool) { e.hit = known(v) }},
		{name: "residual", flag: func(e *entry, v bool) { e.residual = v }},
		{name: hitSeverityColumn, text: func(e *entry, v []byte) { e.hitSeverity = rankIn(v) }},
		{name: "dropped_items", number: func(e *entry, v int64) { e.dropped = v }},
		{name: "unmapped", number: func(e *entry, v int64) { e.unmapped = v }},
		{name: "calls", number: func(e *entry, v int64) { e.calls = v }},
		{name: "attempts", number: func(e *entry, v int64) { e.attempts = v }},
		{name: "prompt_tokens", number: func(e *entry, v int64) { e.prompt = known(v) }},
		{name: "completion_tokens", number: func(e *entry, v int64) { e.completion = known(v) }},
		{name: "cached_tokens", number: func(e *entry, v int64) { e.cached = known(v) }},
		{name: "reasoning_tokens", number: func(e *entry, v int64) { e.reasoning = known(v) }},
		{name: "cost_usd_micros", number: func(e *entry, v int64) { e.cost = known(v) }},
		{name: "latency_ms", number: func(e *entry, v int64) { e.latency = known(v) }},
		{name: "trajectory_hash", text: traced()},
		{name: "model_returned", text: text(func(e *entry) *string { return &e.model })},
		{name: "system_fingerprint", text: text(func(e *entry) *string { return &e.fingerprint })},
		{name: "simulated", flag: func(e *entry, v bool) { e.simulated = v }},
	}
	for at, p := range Policies() {
		if !slices.ContainsFunc(policies, func(asked Policy) bool { return asked.place() == at }) {
			continue
		}
		columns = append(columns,
			column{name: "silent_" + string(p), flag: func(e *entry, v bool) { e.silent[at] = known(v) }},
			column{name: "break_severity_" + string(p), text: func(e *entry, v []byte) { e.breaks[at] = rankIn(v) }})
	}
	return columns
}

const hitSeverityColumn = "hit_severity"

// text copies a text that stands in many rows in a row only once.
func text(part func(*entry) *string) func(*entry, []byte) {
	last := ""
	return func(e *entry, v []byte) {
		if string(v) != last {
			last = string(v)
		}
		*part(e) = last
	}
}

// word copies each of a few words only once.
func word(part func(*entry) *string) func(*entry, []byte) {
	last, words := "", map[string]string{}
	return func(e *entry, v []byte) {
		if string(v) != last {
			w, ok := words[string(v)]
			if !ok {
				w = string(v)
				words[w] = w
			}
			last = w
		}
		*part(e) = last
	}
}

// traced digests a hash that stands in many rows in a row only once.
func traced() func(*entry, []byte) {
	var last []byte
	digest := traceDigest(last)
	return func(e *entry, v []byte) {
		if !bytes.Equal(v, last) {
			last = append(last[:0], v...)
			digest = traceDigest(v)
		}
		e.trace = known(digest)
	}
}

func rankIn(v []byte) rank { return rankOf(detector.Severity(v)) }

// entryReader reads the entries of runs.parquet column by column. Reading rows
// into a struct of pointers takes five times as long.
type entryReader struct {
	groups []parquet.RowGroup
	cells  []*cells
	left   int64 // rows of the open group
	batch  []entry
}

// entries returns a reader of a file whose columns were checked. Columns that the
// file lacks stay unknown, and so do those of other policies.
func entries(t *table[RunRow], policies []Policy) *entryReader {
	r := &entryReader{groups: t.pq.RowGroups(), batch: make([]entry, rowsPerRead)}
	for _, c := range entryColumns(policies) {
		if leaf, ok := t.pq.Schema().Lookup(c.name); ok {
			r.cells = append(r.cells, &cells{column: c, at: leaf.ColumnIndex})
		}
	}
	return r
}

// next returns some entries, which stay valid until the next call; none at the
// end.
func (r *entryReader) next() (batch []entry, err error) {
	defer contain(&err)
	for r.left == 0 {
		if err := r.close(); err != nil {
			return nil, err
		}
		if len(r.groups) == 0 {
			return nil, nil
		}
		if err := r.open(r.groups[0]); err != nil {
			return nil, err
		}
		r.groups = r.groups[1:]
	}
	batch = r.batch[:min(r.left, rowsPerRead)]
	clear(batch)
	for _, c := range r.cells {
		if err := c.fill(batch); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	r.left -= int64(len(batch))
	return batch, nil
}

func (r *entryReader) open(group parquet.RowGroup) error {
	chunks := group.ColumnChunks()
	r.left = group.NumRows()
	for _, c := range r.cells {
		chunk := chunks[c.at]
		if n := chunk.NumValues(); n != r.left {
			return fmt.Errorf("column %s has %d values in %d rows", c.name, n, r.left)
		}
		c.pages = chunk.Pages()
	}
	return nil
}

// close ends the open row group.
func (r *entryReader) close() (err error) {
	defer contain(&err)
	for _, c := range r.cells {
		err = errors.Join(err, c.close())
	}
	return err
}
