package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/youden-bench/youden/measurements"
)

func TestTextChanges(t *testing.T) {
	record := func(hash string, texts ...string) measurements.DetectorRecord {
		d := measurements.DetectorRecord{Name: "d", Hash: hash}
		for i := 0; i < len(texts); i += 2 {
			d.Texts = append(d.Texts, measurements.TextRecord{Name: texts[i], SHA256: texts[i+1]})
		}
		return d
	}
	old := record("h", "settings", "s", "prompt", "p", "checklist", "c")
	for _, c := range []struct {
		name          string
		before, after measurements.DetectorRecord
		want          []TextChange
	}{
		{"the same", old, old, []TextChange{}},
		{"the same, and older than its texts", record("h"), old, []TextChange{}},
		{"one", old, record("i", "settings", "s", "prompt", "q", "checklist", "c"), []TextChange{{"prompt", TextChanged}}},
		{"all ways", old, record("i", "settings", "t", "prompt", "p", "path/prompt", "x"),
			[]TextChange{{"settings", TextChanged}, {"path/prompt", TextAdded}, {"checklist", TextRemoved}}},
		{"OLD does not say", record("h"), record("i", "prompt", "p"), nil},
		{"NEW does not say", record("h", "prompt", "p"), record("i"), nil},
		{"none that is named", old, record("i", "settings", "s", "prompt", "p", "checklist", "c"), nil},
	} {
		assert.Equal(t, c.want, TextChanges(c.before, c.after), c.name)
	}
}
