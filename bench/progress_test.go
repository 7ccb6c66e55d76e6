package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clock is moved by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestPlainProgressIsALineEachTenthOrHalfMinute(t *testing.T) {
	var out bytes.Buffer
	c := &clock{at: time.Unix(0, 0)}
	r, err := NewReporter(&out, "auto", false, c.now)
	require.NoError(t, err)
	for n := 1; n <= 100; n++ {
		r.Update(Progress{Done: n, Total: 100, OK: n})
	}
	r.Close()
	assert.Equal(t, 10, strings.Count(out.String(), "\n"), out.String())
	assert.Contains(t, out.String(), "100/100 runs")

	out.Reset()
	r, err = NewReporter(&out, "plain", true, c.now)
	require.NoError(t, err)
	for n := 1; n <= 4; n++ {
		r.Update(Progress{Done: n, Total: 1000})
		c.at = c.at.Add(31 * time.Second)
	}
	assert.Equal(t, 3, strings.Count(out.String(), "\n"), "slow work still says that it is alive")
}

func TestJSONProgressIsOneObjectALine(t *testing.T) {
	var out bytes.Buffer
	r, err := NewReporter(&out, "json", true, time.Now)
	require.NoError(t, err)
	r.Update(Progress{Done: 1, Total: 1, OK: 1, Calls: 1})
	var event map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &event))
	assert.Equal(t, "youden.progress/1", event["schema"])
	assert.Nil(t, event["cost_usd_micros"], "an unknown cost is null")
}

func TestBarLeavesItsLastState(t *testing.T) {
	var out bytes.Buffer
	r, err := NewReporter(&out, "bar", true, time.Now)
	require.NoError(t, err)
	r.Update(Progress{Done: 1, Total: 3, OK: 1})
	r.Close() // interrupted after one of three
	assert.Contains(t, out.String(), "1/3 runs")
}

func TestProgressModes(t *testing.T) {
	for _, mode := range ProgressModes() {
		r, err := NewReporter(&bytes.Buffer{}, mode, false, time.Now)
		require.NoError(t, err, mode)
		r.Close()
	}
	_, err := NewReporter(&bytes.Buffer{}, "loud", false, time.Now)
	assert.ErrorContains(t, err, "auto")
}
