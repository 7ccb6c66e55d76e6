package endpoint

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

func TestReasoningHasAPriceOfItsOwn(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	dear := &Price{PromptMicros: 1_000_000, CompletionMicros: 2_000_000, CachedMicros: n(100_000), ReasoningMicros: n(5_000_000)}
	cheap := &Price{PromptMicros: 1_000_000, CompletionMicros: 2_000_000, ReasoningMicros: n(500_000)}
	plain := &Price{PromptMicros: 1_000_000, CompletionMicros: 2_000_000}
	for name, c := range map[string]struct {
		price *Price
		usage detector.Usage
		want  int64
	}{
		"part of the answer":      {dear, detector.Usage{Prompt: n(10), Completion: n(7), Reasoning: n(3)}, 10 + 4*2 + 3*5},
		"cached and reasoning":    {dear, detector.Usage{Prompt: n(110), Cached: n(100), Completion: n(7), Reasoning: n(7)}, 10 + 10 + 7*5},
		"unknown, dear":           {dear, detector.Usage{Prompt: n(0), Completion: n(7)}, 7 * 5},
		"unknown, cheap":          {cheap, detector.Usage{Prompt: n(0), Completion: n(7)}, 7 * 2},
		"none":                    {dear, detector.Usage{Prompt: n(0), Completion: n(7), Reasoning: n(0)}, 7 * 2},
		"beside the answer":       {dear, detector.Usage{Prompt: n(32), Completion: n(9), Reasoning: n(94)}, 32 + 9*2 + 94*5},
		"beside, without a price": {plain, detector.Usage{Prompt: n(32), Completion: n(9), Reasoning: n(94)}, 32 + (9+94)*2},
		"without a price":         {plain, detector.Usage{Prompt: n(32), Completion: n(9), Reasoning: n(4)}, 32 + 9*2},
	} {
		assert.Equal(t, c.want, *c.price.cost(c.usage), name)
	}
	assert.Error(t, (&Price{ReasoningMicros: n(-1)}).check())
}

// Whatever a server reports within the bounds, and however it is priced, costs at
// most what is reserved for it.
func TestTheWorstCaseIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(0, 200_000_000)
		some := func(label string, most int64) *int64 {
			if rapid.Bool().Draw(t, label+" unknown") {
				return nil
			}
			v := rapid.Int64Range(0, most).Draw(t, label)
			return &v
		}
		price := &Price{
			PromptMicros: micros.Draw(t, "prompt price"), CompletionMicros: micros.Draw(t, "completion price"),
			CachedMicros: some("cached price", 200_000_000), ReasoningMicros: some("reasoning price", 200_000_000),
		}
		size, limit := rapid.Int64Range(0, 100_000).Draw(t, "size"), rapid.Int64Range(0, 100_000).Draw(t, "limit")
		prompt, completion := rapid.Int64Range(1, size+addedTokens).Draw(t, "prompt"), rapid.Int64Range(0, limit).Draw(t, "completion")
		u := &ledger.Usage{Prompt: &prompt, Completion: &completion, Cached: some("cached", 2*prompt), Reasoning: some("reasoning", completion)}
		got := cameTo(&ledger.Observation{HTTP: 200, Usage: u}, nil, price)
		require.NotNil(t, got)
		most := worst(int(size), nil, price, int(limit))
		require.LessOrEqual(t, got.Micros, most.Micros)
		require.LessOrEqual(t, got.Tokens, most.Tokens)
		require.Equal(t, int64(1), got.Calls)
	})
}

func TestWorstReadsTheLimitOfTheBody(t *testing.T) {
	price := &Price{PromptMicros: 1_000_000, CompletionMicros: 3_000_000}
	for body, completion := range map[string]int64{
		`{"max_tokens":7}`: 7, `{"max_completion_tokens":9}`: 9, `{"max_tokens":7,"max_completion_tokens":5}`: 7,
		`{}`: 100, `{"max_tokens":null}`: 100, `{"max_tokens":0}`: 0,
	} {
		got := worst(len(body), document([]byte(body)), price, 100)
		prompt := int64(len(body)) + addedTokens
		assert.Equal(t, budget.Amount{Micros: prompt + 3*completion, Calls: 1, Tokens: prompt + completion}, got, body)
	}
	assert.Equal(t, int64(0), worst(5, nil, nil, 1).Micros)
	assert.Equal(t, int64(math.MaxInt64), worst(5, nil, &Price{PromptMicros: math.MaxInt64, CompletionMicros: math.MaxInt64}, 1<<40).Micros)
}

// The texts of a request are part of its body as they are, or longer.
func FuzzABodyIsNoShorterThanItsTexts(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x00\"\\\n", "ünïcode 漢字", "<&>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw := encodeMessages(nil, []detector.Message{{Role: detector.User, Content: text}}, 0)
		var back []struct{ Content string }
		require.NoError(t, json.Unmarshal(raw, &back))
		require.GreaterOrEqual(t, len(raw), len(back[0].Content))
	})
}

func TestWhatAnAttemptCameTo(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	price := &Price{PromptMicros: 1_000_000, CompletionMicros: 2_000_000}
	observed := func(status int, u *ledger.Usage) *ledger.Observation {
		return &ledger.Observation{HTTP: status, Usage: u}
	}
	one := &budget.Amount{Calls: 1}
	for name, c := range map[string]struct {
		o       *ledger.Observation
		notSent *ledger.NotSent
		price   *Price
		want    *budget.Amount
	}{
		"not sent":           {nil, &ledger.NotSent{}, price, &budget.Amount{}},
		"unknown fate":       {nil, nil, price, nil},
		"answered":           {observed(200, &ledger.Usage{Prompt: n(10), Completion: n(5)}), nil, price, &budget.Amount{Micros: 20, Calls: 1, Tokens: 15}},
		"unpriced":           {observed(200, &ledger.Usage{Prompt: n(10), Completion: n(5)}), nil, nil, &budget.Amount{Calls: 1, Tokens: 15}},
		"reasoning beside":   {observed(200, &ledger.Usage{Prompt: n(10), Completion: n(5), Reasoning: n(9)}), nil, nil, &budget.Amount{Calls: 1, Tokens: 24}},
		"no usage":           {observed(200, nil), nil, price, nil},
		"half a usage":       {observed(200, &ledger.Usage{Prompt: n(10)}), nil, price, nil},
		"zeros":              {observed(200, &ledger.Usage{Prompt: n(0), Completion: n(0)}), nil, price, nil},
		"absurd":             {observed(200, &ledger.Usage{Prompt: n(1 << 40), Completion: n(1)}), nil, &Price{PromptMicros: math.MaxInt64}, nil},
		"rate limit":         {observed(429, nil), nil, price, one},
		"wrong key":          {observed(401, nil), nil, price, one},
		"redirect":           {observed(307, nil), nil, price, one},
		"server error":       {observed(500, nil), nil, price, nil},
		"request timeout":    {observed(408, nil), nil, price, nil},
		"conflict":           {observed(409, nil), nil, price, nil},
		"failed with a bill": {observed(500, &ledger.Usage{Prompt: n(10), Completion: n(5)}), nil, price, &budget.Amount{Micros: 20, Calls: 1, Tokens: 15}},
	} {
		assert.Equal(t, c.want, cameTo(c.o, c.notSent, c.price), name)
	}
}

func TestSpanLeavesOutTheNights(t *testing.T) {
	var s span
	at := func(second int64, open bool) {
		r := ledger.Record{At: second * int64(time.Second)}
		if open {
			r.Open = &ledger.Opened{}
		}
		s.add(r)
	}
	assert.Zero(t, s.sum())
	at(100, false) // the store is made just before it is opened
	at(100, true)
	at(103, false)
	at(90_000, true)
	at(90_004, false)
	at(200_000, true)
	assert.Equal(t, 7*time.Second, s.sum())
}
