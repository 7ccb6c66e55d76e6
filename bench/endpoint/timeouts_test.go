package endpoint_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/detector"
)

// slowBody hands out pieces of an answer, one after each pause.
type slowBody struct {
	ctx    context.Context
	pause  time.Duration
	pieces []string
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(b.pause):
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
	n := copy(p, b.pieces[0])
	b.pieces = b.pieces[1:]
	return n, nil
}

func (*slowBody) Close() error { return nil }

func TestEachTimeoutByItself(t *testing.T) {
	dots := strings.Split(strings.Repeat("\n ", 60), " ")
	for name, c := range map[string]struct {
		first, pause time.Duration
		pieces       []string
		timeouts     endpoint.Timeouts
		want         string
	}{
		"all in time":                        {50 * time.Second, 50 * time.Second, []string{plain}, endpoint.Timeouts{}, ""},
		"no first byte":                      {2 * time.Minute, 0, []string{plain}, endpoint.Timeouts{FirstByte: time.Minute}, "waited 1m0s for the first byte of the answer"},
		"silence":                            {0, time.Minute, []string{plain}, endpoint.Timeouts{Idle: 30 * time.Second}, "waited 30s for more of the answer"},
		"signs of life keep it going":        {0, 20 * time.Second, append(dots[:10:10], plain), endpoint.Timeouts{Idle: 30 * time.Second}, ""},
		"signs of life do not go on forever": {0, 20 * time.Second, dots, endpoint.Timeouts{Idle: 30 * time.Second}, "waited 10m0s for the whole answer"},
		"the whole":                          {40 * time.Second, 40 * time.Second, []string{plain}, endpoint.Timeouts{Total: time.Minute}, "waited 1m0s for the whole answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := inProcess(memoryLedger(t), func(req *http.Request) (*http.Response, error) {
					select {
					case <-time.After(c.first):
					case <-req.Context().Done():
						return nil, req.Context().Err()
					}
					r := respond(200, "")
					r.Body = &slowBody{req.Context(), c.pause, c.pieces}
					return r, nil
				})
				o.Timeouts = c.timeouts
				a := complete(t, client(t, o), 0, ask("q"))
				if c.want == "" {
					assert.Equal(t, detector.OK, a.Status, a.Detail)
					return
				}
				assert.Equal(t, detector.Timeout, a.Status)
				assert.Contains(t, a.Detail, c.want)
			})
		})
	}
}

func TestASlowCallIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inProcess(memoryLedger(t), func(req *http.Request) (*http.Response, error) {
			<-time.After(5 * time.Minute)
			return respond(200, plain), nil
		})
		o.Timeouts.FirstByte = time.Hour
		c := client(t, o)
		var told []string
		c.Tell(func(words string) {
			if strings.Contains(words, "under way") {
				told = append(told, words)
			}
		})
		var callers sync.WaitGroup
		for k := range 3 {
			callers.Go(func() { complete(t, c, k, ask("q")) })
		}
		callers.Wait()
		require.Len(t, told, 2, "one word every two minutes, not one a call")
		assert.Contains(t, told[1], "a call is under way for 4m0s, and 2 more")
		<-time.After(time.Hour)
		assert.Len(t, told, 2)
	})
}
