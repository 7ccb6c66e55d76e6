package simulator

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const maxBodyBytes = 16 << 20

// Options configure a Server. The zero value serves all embedded profiles with
// virtual latency, without faults and without a key.
type Options struct {
	// Profiles names the embedded profiles to serve; empty means all.
	Profiles []string
	// ProfileFiles are further profiles on disk, JSON of the same schema.
	ProfileFiles []string
	// APIKey, when set, is the only key that is let in.
	APIKey string
	// Latency is virtual (default), real, or a fixed duration such as "50ms".
	Latency LatencyMode
	// Faults is the name of an embedded fault plan, the name of one kind of
	// fault (which then hits every request), or a plan file on disk.
	Faults string
	// Cache makes usage report known prompt prefixes as cached_tokens. The
	// usage of an answer then depends on the requests before it.
	Cache bool
}

// Server answers as an OpenAI-compatible endpoint. It is safe for concurrent
// use.
type Server struct {
	profiles map[string]*profile
	lex      *lexicon
	skills   *skillBook
	clauses  *clauseBook
	apiKey   string
	latency  *latency
	faults   *faultPlan
	prefixes *prefixCache
	codes    *lru[*evidence]
	readings *lru[reading]
	tally    *tally
}

// codesKept bounds the evidence kept for code that is asked about again.
const codesKept = 256

// readingsKept bounds the prompts kept; a search shows one prompt many times.
const readingsKept = 256

// New makes a Server.
func New(o Options) (*Server, error) {
	s := &Server{profiles: map[string]*profile{}, apiKey: o.APIKey, codes: newLRU[*evidence](codesKept),
		readings: newLRU[reading](readingsKept), tally: newTally()}
	names := o.Profiles
	if len(names) == 0 {
		names = Models()
	}
	for _, name := range names {
		p, err := loadEmbedded(name)
		if err != nil {
			return nil, err
		}
		s.profiles[p.Name] = p
	}
	for _, file := range o.ProfileFiles {
		p, err := loadProfileFile(file)
		if err != nil {
			return nil, err
		}
		s.profiles[p.Name] = p
	}
	var err error
	if s.lex, err = loadLexicon(); err != nil {
		return nil, err
	}
	if s.skills, err = loadSkills(); err != nil {
		return nil, err
	}
	if s.clauses, err = loadClauses(); err != nil {
		return nil, err
	}
	if s.latency, err = newLatency(o.Latency); err != nil {
		return nil, err
	}
	if s.faults, err = loadFaults(o.Faults); err != nil {
		return nil, err
	}
	if o.Cache {
		s.prefixes = &prefixCache{}
	}
	return s, nil
}

// Stats returns the counts so far.
func (s *Server) Stats() Stats { return s.tally.snapshot() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Simulated", "true")
	if err := s.route(w, r); err != nil {
		// The client is gone or the body could not be written: nothing is left
		// to tell it, so the connection ends here as net/http documents.
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) route(w http.ResponseWriter, r *http.Request) error {
	path := r.URL.Path
	if path == "/-/stats" {
		return s.serveStats(w)
	}
	want := map[bool]string{true: http.MethodPost, false: http.MethodGet}[path == "/v1/chat/completions"]
	known := path == "/v1/chat/completions" || path == "/v1/models" || strings.HasPrefix(path, "/v1/models/")
	commonHeaders(w.Header(), hexOf(24, "request", r.Method, path))
	switch {
	case !known:
		return writeError(w, failure(http.StatusNotFound, "invalid_request_error", "", "Invalid URL (%s %s)", r.Method, path))
	case r.Method != want:
		w.Header().Set("Allow", want)
		return writeError(w, failure(http.StatusMethodNotAllowed, "invalid_request_error", "", "Not allowed to %s on %s.", r.Method, path))
	}
	if e := s.authorise(r); e != nil {
		return writeError(w, e)
	}
	switch path {
	case "/v1/models":
		return s.listModels(w)
	case "/v1/chat/completions":
		return s.serveChat(w, r)
	}
	return s.getModel(w, path)
}

func (s *Server) authorise(r *http.Request) *apiError {
	if s.apiKey == "" {
		return nil
	}
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok || key == "":
		return failure(http.StatusUnauthorized, "invalid_request_error", "", "You didn't provide an API key.")
	case key != s.apiKey:
		return failure(http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
	}
	return nil
}

// commonHeaders sets what every answer carries. The limits are never reached:
// a limit that depended on the clock would make answers differ.
func commonHeaders(h http.Header, id string) {
	h.Set("X-Request-Id", "req_"+id)
	h.Set("Openai-Processing-Ms", "1")
	h.Set("X-Ratelimit-Limit-Requests", "10000")
	h.Set("X-Ratelimit-Remaining-Requests", "9999")
	h.Set("X-Ratelimit-Reset-Requests", "6ms")
	h.Set("X-Ratelimit-Limit-Tokens", "10000000")
	h.Set("X-Ratelimit-Remaining-Tokens", "9999000")
	h.Set("X-Ratelimit-Reset-Tokens", "6ms")
}

func (s *Server) serveStats(w http.ResponseWriter) error {
	data, err := s.tally.snapshot().json()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return err
}

func (s *Server) serveChat(w http.ResponseWriter, r *http.Request) error {
	body, apiErr := readBody(w, r)
	attempt := r.Header.Get("X-Youden-Attempt")
	s.tally.add(func(st *Stats) {
		st.Requests++
		if id, n, ok := splitAttempt(attempt); ok && n > st.Attempts[id] {
			st.Attempts[id] = n
		}
	})
	sum := sha256.Sum256(body)
	commonHeaders(w.Header(), hexOf(24, "request", string(sum[:]), attempt))
	fault := s.faults.draw(attempt, sum)
	if apiErr == nil {
		apiErr = fault.refusal()
	}
	var c *completion
	var q *chatRequest
	var p *profile
	if apiErr == nil {
		q, p, c, apiErr = s.answer(body)
	}
	if fault.kind != "" {
		s.tally.add(func(st *Stats) { st.Faults[string(fault.kind)]++ })
	}
	if apiErr != nil {
		s.tally.add(func(st *Stats) { st.Refused++ })
		fault.headers(w.Header())
		return writeError(w, apiErr)
	}
	if done, err := s.replaceAnswer(w, r, fault); done {
		s.tally.add(func(st *Stats) { st.Refused++ })
		return err
	}
	fault.alter(c)
	if s.prefixes != nil {
		c.usage.Prompt.CachedTokens = min(s.prefixes.cached(p.Name, q), c.usage.PromptTokens)
	}
	took := s.latency.of(p, c)
	w.Header().Set("Openai-Processing-Ms", strconv.FormatInt(max(took.Milliseconds(), 1), 10))
	if s.latency.wait {
		if err := s.latency.sleep(r.Context(), took); err != nil {
			return err
		}
	}
	s.tally.called(p.Name, sum)
	if err := s.send(w, r, q, c, fault); err != nil {
		return err
	}
	s.tally.add(func(st *Stats) { st.Finished++ })
	return nil
}

func (s *Server) answer(body []byte) (*chatRequest, *profile, *completion, *apiError) {
	q, apiErr := parseChat(body)
	if apiErr != nil {
		return nil, nil, nil, apiErr
	}
	p, ok := s.profiles[q.model]
	if !ok {
		return nil, nil, nil, modelNotFound(q.model)
	}
	c, apiErr := s.complete(q, p)
	return q, p, c, apiErr
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, failure(http.StatusRequestEntityTooLarge, "invalid_request_error", "request_too_large", "The request body is larger than %d bytes.", maxBodyBytes)
	case err != nil:
		return nil, invalid("", "", "We could not read the body of your request.")
	}
	return body, nil
}

// splitAttempt reads "<opaque id>-<number>".
func splitAttempt(header string) (id string, n int, ok bool) {
	at := strings.LastIndexByte(header, '-')
	if at < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(header[at+1:])
	return header[:at], n, err == nil
}

func writeJSON(w http.ResponseWriter, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)+1))
	_, err = w.Write(append(data, '\n'))
	return err
}
