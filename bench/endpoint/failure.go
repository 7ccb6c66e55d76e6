package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/youden-bench/youden/bench/ledger"
	"github.com/youden-bench/youden/detector"
)

// failure says what a call without a complete answer came to. parent is the
// caller's context, within the one of the attempt with its own timeouts.
func (t *transport) failure(parent, within context.Context, err error, partial []byte) *ledger.Failure {
	if e, late := overdue(within); late && parent.Err() == nil {
		err = e
	}
	status, detail := failureStatus(parent, err)
	clean, _ := t.filter.Known(partial)
	return &ledger.Failure{Outcome: string(status), Cause: t.filter.String(detail), Partial: clean}
}

func failureStatus(parent context.Context, err error) (detector.Status, string) {
	var timeout net.Error
	var late *overdueError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(parent.Err(), context.Canceled):
		return detector.Cancelled, "stopped while the call was under way"
	case errors.As(err, &late):
		return detector.Timeout, fmt.Sprintf("no complete answer in time: %v", err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return detector.Timeout, fmt.Sprintf("no complete answer in time: %v", err)
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(err.Error(), "connection refused"),
		strings.Contains(err.Error(), "actively refused"): // as Windows says it
		return detector.Transient, CauseRefused.detail(fmt.Sprintf("nothing listens there: is the server up and base_url right? (%v)", err))
	case errors.As(err, &dns):
		return detector.Transient, fmt.Sprintf("the host name %q does not resolve: is base_url right?", dns.Name)
	case errors.As(err, &certificate):
		return detector.Config, fmt.Sprintf("the server's certificate is not trusted: %v", err)
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return detector.Config, "the server does not speak TLS: should base_url begin with http:// ?"
	}
	return detector.Transient, fmt.Sprintf("the connection failed: %v", err)
}

// neverConnected reports whether an endpoint inside the process says that it
// could not connect. Its errors come without a connection's trace, so all others
// mean that the call may have been executed.
func neverConnected(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}
