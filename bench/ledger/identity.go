package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
)

// Digest is a domain-separated SHA-256 over length-prefixed fields.
type Digest [sha256.Size]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether d is the zero value, which is no digest of anything.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText returns the digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != 2*len(d) {
		return fmt.Errorf("a digest has %d hexadecimal digits, got %d", 2*len(d), len(text))
	}
	if _, err := hex.Decode(d[:], text); err != nil {
		return fmt.Errorf("reading a digest: %w", err)
	}
	return nil
}

// digest hashes fields under a domain. Lengths go before the bytes, so that no
// two lists of fields share an encoding (spec/ledger.md section 3.1).
func digest(domain string, fields ...[]byte) Digest {
	h := sha256.New()
	var n [8]byte
	write := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	write([]byte(domain))
	for _, f := range fields {
		write(f)
	}
	var d Digest
	h.Sum(d[:0])
	return d
}

func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// AdapterID names the code that speaks to an endpoint. It is compiled in, never
// read from a file.
type AdapterID struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Endpoint says where calls go, in canonical form. An endpoint inside this
// process has a pseudo URL that its owner gives.
type Endpoint struct {
	Scheme   string `json:"scheme"`
	Host     string `json:"host"`
	Port     string `json:"port,omitempty"`
	BasePath string `json:"base_path,omitempty"`
}

// ParseEndpoint reads the canonical endpoint of a base URL: lower-case scheme
// and host, the port always said for http and https, no slash at the end.
func ParseEndpoint(raw string) (Endpoint, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return Endpoint{}, fmt.Errorf("the URL of an endpoint does not parse: %w", withoutURL(err))
	}
	switch {
	case u.Scheme == "" || u.Host == "":
		return Endpoint{}, fmt.Errorf("the URL of an endpoint needs a scheme and a host, such as http://127.0.0.1:8080/v1")
	case u.User != nil:
		return Endpoint{}, fmt.Errorf("the URL of an endpoint must not hold a user name or password: put the key into an environment variable and name it in api_key_env")
	case u.RawQuery != "" || u.Fragment != "":
		return Endpoint{}, fmt.Errorf("the URL of an endpoint must not hold a query or a fragment")
	}
	e := Endpoint{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Hostname()), Port: u.Port()}
	if ip, err := netip.ParseAddr(e.Host); err == nil {
		e.Host = ip.String()
	}
	if e.Port == "" {
		e.Port = map[string]string{"http": "80", "https": "443"}[e.Scheme]
	}
	if p := path.Clean("/" + u.EscapedPath()); p != "/" {
		e.BasePath = p
	}
	return e, nil
}

// withoutURL drops the text of the URL from an error of net/url: it may hold a
// password.
func withoutURL(err error) error {
	if ue, ok := err.(*url.Error); ok { //nolint:errorlint // url.Parse returns it bare
		return ue.Err
	}
	return err
}

// Call is one request to an endpoint. Body is what identifies it, and what is
// sent, byte for byte.
type Call struct {
	Adapter  AdapterID
	Endpoint Endpoint
	Method   string
	Path     string // below the endpoint's base path
	Body     []byte

	sha *Digest // of Body, when Hashed
}

// Digest identifies the call: same adapter, same endpoint, same bytes.
func (c Call) Digest() Digest { return c.digest(c.request()) }

// Hashed returns the call with the hash of its body, for a caller that needs it more
// than once. Body must not change after that.
func (c Call) Hashed() Call {
	sha := c.request()
	c.sha = &sha
	return c
}

func (c Call) request() Digest {
	if c.sha != nil {
		return *c.sha
	}
	return sha256.Sum256(c.Body)
}

func (c Call) digest(body Digest) Digest {
	return digest("youden/call/1",
		[]byte(c.Adapter.Name), []byte(c.Adapter.Version),
		[]byte(c.Endpoint.Scheme), []byte(c.Endpoint.Host), []byte(c.Endpoint.Port), []byte(c.Endpoint.BasePath),
		[]byte(c.Method), []byte(c.Path), body[:])
}

// Sample is one draw: the Index-th answer to a call within a scope. Scope is the
// id of a plan; the same scope resumes, another one draws afresh. Epoch rises
// when a sample is forgotten.
type Sample struct {
	Scope string
	Call  Digest
	Index uint32
	Epoch uint32
}

// Digest identifies the sample.
func (s Sample) Digest() Digest {
	return digest("youden/sample/1", []byte(s.Scope), s.Call[:], number(s.Index), number(s.Epoch))
}

// Attempt is one try at sending a sample's call.
type Attempt struct {
	ID     Digest
	Sample Digest
	Seq    uint32  // 1-based
	Parent *Digest // the attempt before it
}

func newAttempt(store, sample Digest, seq uint32, parent *Digest) Attempt {
	var before []byte
	if parent != nil {
		before = parent[:]
	}
	return Attempt{
		ID:     digest("youden/attempt/1", store[:], sample[:], number(seq), before),
		Sample: sample, Seq: seq, Parent: parent,
	}
}

// WireID is the attempt's name outside the process: it tells a provider's log
// from another's and says nothing about the sample.
func (a Attempt) WireID() string {
	d := digest("youden/wire/1", a.ID[:])
	return hex.EncodeToString(d[:8])
}

// Header is the value of X-Youden-Attempt. It is never sent as an idempotency
// key: net/http resends such requests by itself (spec/ledger.md section 3.2).
func (a Attempt) Header() string { return fmt.Sprintf("%s-%d", a.WireID(), a.Seq) }
