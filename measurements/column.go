package measurements

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/youden-bench/youden/detector"
)

// column says which part of an entry a column of runs.parquet is. Values live as
// long as the page that they were read from, so that a text is copied.
type column struct {
	name string
	set  func(*entry, parquet.Value)
}

// entryColumns lists the columns that tallies need; nulls are not set. The
// result remembers words and serves one reader.
func entryColumns() []column {
	return []column{
		{"case_id", text(func(e *entry) *string { return &e.caseID })},
		{"case_hash", text(func(e *entry) *string { return &e.caseHash })},
		{"slice", word(func(e *entry) *string { return &e.slice })},
		{"family", word(func(e *entry) *string { return &e.family })},
		{"pair", func(e *entry, v parquet.Value) { e.pair = v.Boolean() }},
		{"side", word(func(e *entry) *string { return &e.side })},
		{"k", func(e *entry, v parquet.Value) { e.k = v.Int64() }},
		{"status", word(func(e *entry) *string { return &e.status })},
		{"counts", word(func(e *entry) *string { return &e.counts })},
		{"hit", func(e *entry, v parquet.Value) { e.hit = known(v.Boolean()) }},
		{"silent_strict", func(e *entry, v parquet.Value) { e.silent[Strict.place()] = known(v.Boolean()) }},
		{"silent_class", func(e *entry, v parquet.Value) { e.silent[Class.place()] = known(v.Boolean()) }},
		{"silent_region", func(e *entry, v parquet.Value) { e.silent[Region.place()] = known(v.Boolean()) }},
		{"residual", func(e *entry, v parquet.Value) { e.residual = v.Boolean() }},
		{hitSeverityColumn, func(e *entry, v parquet.Value) { e.hitSeverity = rankIn(v) }},
		{"break_severity_strict", func(e *entry, v parquet.Value) { e.breaks[Strict.place()] = rankIn(v) }},
		{"break_severity_class", func(e *entry, v parquet.Value) { e.breaks[Class.place()] = rankIn(v) }},
		{"break_severity_region", func(e *entry, v parquet.Value) { e.breaks[Region.place()] = rankIn(v) }},
		{"dropped_items", func(e *entry, v parquet.Value) { e.dropped = v.Int64() }},
		{"unmapped", func(e *entry, v parquet.Value) { e.unmapped = v.Int64() }},
		{"calls", func(e *entry, v parquet.Value) { e.calls = v.Int64() }},
		{"attempts", func(e *entry, v parquet.Value) { e.attempts = v.Int64() }},
		{"prompt_tokens", func(e *entry, v parquet.Value) { e.prompt = known(v.Int64()) }},
		{"completion_tokens", func(e *entry, v parquet.Value) { e.completion = known(v.Int64()) }},
		{"cached_tokens", func(e *entry, v parquet.Value) { e.cached = known(v.Int64()) }},
		{"reasoning_tokens", func(e *entry, v parquet.Value) { e.reasoning = known(v.Int64()) }},
		{"cost_usd_micros", func(e *entry, v parquet.Value) { e.cost = known(v.Int64()) }},
		{"latency_ms", func(e *entry, v parquet.Value) { e.latency = known(v.Int64()) }},
		{"trajectory_hash", func(e *entry, v parquet.Value) { e.trace = known(traceDigest(v.ByteArray())) }},
		{"model_returned", text(func(e *entry) *string { return &e.model })},
		{"system_fingerprint", text(func(e *entry) *string { return &e.fingerprint })},
		{"simulated", func(e *entry, v parquet.Value) { e.simulated = v.Boolean() }},
	}
}

const hitSeverityColumn = "hit_severity"

// text copies a text that stands in many rows in a row only once.
func text(part func(*entry) *string) func(*entry, parquet.Value) {
	last := ""
	return func(e *entry, v parquet.Value) {
		if b := v.ByteArray(); string(b) != last {
			last = string(b)
		}
		*part(e) = last
	}
}

// word copies each of a few words only once.
func word(part func(*entry) *string) func(*entry, parquet.Value) {
	last, words := "", map[string]string{}
	return func(e *entry, v parquet.Value) {
		if b := v.ByteArray(); string(b) != last {
			w, ok := words[string(b)]
			if !ok {
				w = string(b)
				words[w] = w
			}
			last = w
		}
		*part(e) = last
	}
}

func rankIn(v parquet.Value) rank { return rankOf(detector.Severity(v.ByteArray())) }

// entryReader reads the entries of runs.parquet column by column. Reading rows
// into a struct of pointers takes five times as long.
type entryReader struct {
	groups  []parquet.RowGroup
	columns []column
	at      []int // where each column is in the file
	chunks  []parquet.ColumnChunkValueReader
	left    int64 // rows of the open group
	batch   []entry
	values  []parquet.Value
}

// entries returns a reader of a file whose columns were checked. Columns that
// the file lacks stay unknown.
func entries(t *table[RunRow]) *entryReader {
	r := &entryReader{
		groups: t.pq.RowGroups(),
		batch:  make([]entry, rowsPerRead),
		values: make([]parquet.Value, rowsPerRead),
	}
	for _, c := range entryColumns() {
		if leaf, ok := t.pq.Schema().Lookup(c.name); ok {
			r.columns = append(r.columns, c)
			r.at = append(r.at, leaf.ColumnIndex)
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
	for i, c := range r.columns {
		if err := r.fill(batch, c, r.chunks[i]); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	r.left -= int64(len(batch))
	return batch, nil
}

func (r *entryReader) open(group parquet.RowGroup) error {
	chunks := group.ColumnChunks()
	r.left = group.NumRows()
	for i, at := range r.at {
		if n := chunks[at].NumValues(); n != r.left {
			return fmt.Errorf("column %s has %d values in %d rows", r.columns[i].name, n, r.left)
		}
		r.chunks = append(r.chunks, parquet.NewColumnChunkValueReader(chunks[at]))
	}
	return nil
}

func (r *entryReader) fill(batch []entry, c column, chunk parquet.ColumnChunkValueReader) error {
	for len(batch) > 0 {
		n, err := chunk.ReadValues(r.values[:len(batch)])
		for i, v := range r.values[:n] {
			if !v.IsNull() {
				c.set(&batch[i], v)
			}
		}
		batch = batch[n:]
		switch {
		case len(batch) == 0:
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
	return nil
}

// close ends the open row group.
func (r *entryReader) close() (err error) {
	defer contain(&err)
	for _, c := range r.chunks {
		err = errors.Join(err, c.Close())
	}
	r.chunks = r.chunks[:0]
	return err
}
