package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// errReset is what a client sees when the handler ends the connection.
var errReset = errors.New("simulator: connection reset by the simulated endpoint")

// Transport runs a handler in this process in place of a network. It honours
// the request's context, copies all bytes and shows an aborted handler as a
// broken connection. The response body may be read while the handler writes.
func Transport(h http.Handler) http.RoundTripper { return transport{h} }

type transport struct{ handler http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, errors.Join(fmt.Errorf("simulator: read request body: %w", err), r.Body.Close())
		}
		if err = r.Body.Close(); err != nil {
			return nil, fmt.Errorf("simulator: close request body: %w", err)
		}
	}
	in := r.Clone(ctx)
	in.Body = io.NopCloser(bytes.NewReader(body))
	in.RequestURI = r.URL.RequestURI()
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	p := newPipe(ctx, r)
	go p.run(t.handler, in)
	select {
	case <-p.started:
		// A handler that gives up because the context ended has not answered.
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return p.response()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pipe is the response writer on one side and the response body on the other.
type pipe struct {
	ctx     context.Context
	request *http.Request
	header  http.Header
	started chan struct{} // closed at the first byte, or when the handler ends
	once    sync.Once

	mu      sync.Mutex
	more    *sync.Cond
	sent    http.Header
	status  int
	data    []byte
	ended   bool
	failed  bool
	stopped bool // the reader closed the body
}

func newPipe(ctx context.Context, r *http.Request) *pipe {
	p := &pipe{ctx: ctx, request: r, header: http.Header{}, started: make(chan struct{})}
	p.more = sync.NewCond(&p.mu)
	return p
}

func (p *pipe) run(h http.Handler, r *http.Request) {
	stop := context.AfterFunc(p.ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.more.Broadcast()
	})
	defer func() {
		stop()
		failed := recover() != nil
		if !failed {
			p.WriteHeader(http.StatusOK)
		}
		p.mu.Lock()
		p.ended, p.failed = true, failed
		p.more.Broadcast()
		p.mu.Unlock()
		p.once.Do(func() { close(p.started) })
	}()
	h.ServeHTTP(p, r)
}

func (p *pipe) Header() http.Header { return p.header }

func (p *pipe) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status == 0 {
		p.status, p.sent = status, p.header.Clone()
	}
}

func (p *pipe) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || p.ctx.Err() != nil {
		return 0, errReset
	}
	p.data = append(p.data, b...)
	p.more.Broadcast()
	p.once.Do(func() { close(p.started) })
	return len(b), nil
}

// Flush implements http.Flusher; bytes are readable as soon as written.
func (p *pipe) Flush() {}

func (p *pipe) response() (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status == 0 {
		return nil, errReset
	}
	resp := &http.Response{
		Status: fmt.Sprintf("%d %s", p.status, http.StatusText(p.status)), StatusCode: p.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: p.sent,
		ContentLength: -1, Body: p.body(), Request: p.request,
	}
	return resp, nil
}

func (p *pipe) body() io.ReadCloser { return &pipeBody{p} }

type pipeBody struct{ p *pipe }

func (b *pipeBody) Read(into []byte) (int, error) {
	p := b.p
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.ctx.Err() != nil:
			return 0, p.ctx.Err()
		case p.stopped:
			return 0, http.ErrBodyReadAfterClose
		case len(p.data) > 0:
			n := copy(into, p.data)
			p.data = p.data[n:]
			return n, nil
		case p.failed:
			return 0, io.ErrUnexpectedEOF
		case p.ended:
			return 0, io.EOF
		}
		p.more.Wait()
	}
}

func (b *pipeBody) Close() error {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	b.p.stopped = true
	b.p.more.Broadcast()
	return nil
}
