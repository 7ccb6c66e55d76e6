package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/youden-bench/youden/bench/endpoint"
	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/measurements"
)

// session is what a capture holds open while its runs are made: the ledger of its
// calls and the client that makes them, which spends from the job's budget. A detector
// that calls no model needs neither.
type session struct {
	job     *Job
	capture *measurements.Capture
	ledger  *ledger.Ledger   // nil = no calls
	client  *endpoint.Client // nil = no calls
	over    chan struct{}
}

// open opens what the job needs for its runs into c. Once stop is closed, calls that
// wait for anything end; those that are under way go on.
func (j *Job) open(ctx context.Context, c *measurements.Capture, stop <-chan struct{}, watch Watch) (*session, error) {
	s := &session{job: j, capture: c, over: make(chan struct{})}
	if !j.callsModel() {
		return s, nil
	}
	var err error
	if s.ledger, err = ledger.Open(ctx, filepath.Join(c.Dir(), LedgerFile), ledger.Options{Indeterminate: j.indeterminate()}); err != nil {
		return nil, err
	}
	if err = j.openBudget(ctx, s.ledger, c.Dir()); err == nil {
		s.client, err = j.Request.Endpoint.Connect(j.Request.EndpointName, s.ledger, j.scope(), j.Request.Concurrency, j.spendsFrom())
	}
	if err != nil {
		return nil, errors.Join(err, s.ledger.Close())
	}
	for _, w := range s.client.Warnings() {
		watch.Warn(w)
	}
	s.client.Tell(watch.Warn)
	go s.endWaits(stop)
	return s, nil
}

// endWaits sends away who waits for the endpoint or for the budget when the operator
// stops the capture.
func (s *session) endWaits(stop <-chan struct{}) {
	select {
	case <-stop:
		s.client.Drain() // first: whoever then gets a part of the budget finds this
		if s.job.budget != nil {
			s.job.budget.Drain()
		}
	case <-s.over:
	}
}

// close ends the session.
func (s *session) close() error {
	close(s.over)
	if s.ledger == nil {
		return nil
	}
	return s.ledger.Close()
}

// runner returns what executes the plan over the session.
func (s *session) runner(watch Watch) Runner {
	req := s.job.Request
	r := Runner{Program: s.job.Program, Concurrency: req.Concurrency, Progress: s.job.tellOverruns(watch), Dir: s.capture.Dir(), Only: s.job.only}
	if s.client != nil {
		r.Model, r.Redact = s.client, s.client.Redact
		r.Simulated, r.Spare = req.Endpoint.Simulated, req.Concurrency/2
		r.Recalls = s.ledger.Knows()
	}
	return r
}

// manifest is the capture's, with what was learned so far: a look must see the
// parameters that were sent.
func (s *session) manifest() measurements.Manifest {
	m := s.capture.Manifest()
	m.Traffic = s.traffic()
	return m
}

// observe records what became of the requests.
func (s *session) observe() {
	if s.client != nil {
		s.capture.Observe(s.traffic())
	}
}

func (s *session) traffic() measurements.Traffic {
	if s.client == nil {
		return measurements.Traffic{}
	}
	return s.client.Traffic(s.capture.Manifest().Plan.Parameters)
}

// scope is the identity of the plan in the ledger: the same plan replays, another
// draws anew.
func (j *Job) scope() string {
	p := j.manifest.Plan
	return strings.Join([]string{p.Corpus.Hash, p.Detector.Hash, fmt.Sprint(p.Seed)}, "/")
}

// indeterminate is what to do about calls whose fate a crash left open: paying
// twice is harmless on a simulated endpoint only.
func (j *Job) indeterminate() ledger.Policy {
	if j.Request.Indeterminate == "retry" || j.Request.Indeterminate == "" && j.Request.Endpoint.Simulated {
		return ledger.Retry
	}
	return ledger.Stop
}
