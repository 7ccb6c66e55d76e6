package proof

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/youden-bench/youden/corpus"
)

// Mode is what a harness is asked to send into the code.
type Mode string

// The modes. An exploit must bring the token from where it must not be read,
// a benign input from where it may.
const (
	Exploit Mode = "exploit"
	Benign  Mode = "benign"
)

// Trial is one run of a harness over one side.
type Trial struct {
	Side    corpus.SideName `json:"side"`
	Mode    Mode            `json:"mode"`
	Payload string          `json:"payload"` // what was sent in
	Effect  string          `json:"effect"`  // what came of it, the token replaced
	Seen    bool            `json:"seen"`    // whether the token came back
}

// expected is what a trial of a right pair shows.
func (t Trial) expected() bool { return t.Mode == Benign || t.Side == corpus.Vulnerable }

const (
	maxOutput = 1 << 20 // of a harness, either stream
	maxShown  = 2000    // of a payload or an effect that is kept
	tokenMark = "<token>"
)

// report is what a harness says on its last line.
type report struct {
	Payload *string `json:"payload"`
	Effect  *string `json:"effect"`
}

// trial runs a harness once.
func (w workshop) trial(ctx context.Context, command, env []string, side corpus.SideName, mode Mode, limit time.Duration) (Trial, error) {
	t := Trial{Side: side, Mode: mode}
	token, err := newToken()
	if err != nil {
		return t, err
	}
	if err := w.plant(token); err != nil {
		return t, err
	}
	said, err := run(ctx, command, env, w.side, limit)
	if err != nil {
		return t, fmt.Errorf("%s side, %s: %w", side, mode, err)
	}
	r, err := lastReport(said)
	if err != nil {
		return t, fmt.Errorf("%s side, %s: %w", side, mode, err)
	}
	if strings.Contains(*r.Payload, token) {
		return t, fmt.Errorf("%s side, %s: the payload holds the token, so that an echo would pass for an effect", side, mode)
	}
	t.Seen = strings.Contains(*r.Effect, token)
	t.Payload, t.Effect = shown(*r.Payload, token), shown(*r.Effect, token)
	return t, nil
}

func newToken() (string, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("drawing a token: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// shown shortens a text for keeping, with the token, which is other in every
// trial, replaced.
func shown(text, token string) string {
	if token != "" {
		text = strings.ReplaceAll(text, token, tokenMark)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxShown {
		return text
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// lastReport reads the last line of a harness.
func lastReport(output []byte) (report, error) {
	lines := bytes.Split(bytes.TrimSpace(output), []byte{'\n'})
	last := lines[len(lines)-1]
	var r report
	if err := json.Unmarshal(last, &r); err != nil || r.Payload == nil || r.Effect == nil {
		return r, fmt.Errorf("the harness did not end with a line {\"payload\": ..., \"effect\": ...}; it said %q", shown(string(last), ""))
	}
	return r, nil
}

// errTimeout is a harness that did not end.
var errTimeout = errors.New("did not end in time")

// run starts a command in a folder and returns what it wrote; a failure carries
// what it complained of. All processes of the command end with it.
func run(ctx context.Context, command, env []string, dir string, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, complaint := &bounded{limit: maxOutput}, &bounded{limit: maxOutput}
	cmd.Stdout, cmd.Stderr = out, complaint
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	err := cmd.Run()
	endGroup(cmd)
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return nil, fmt.Errorf("the harness %w: %s; make it shorter, or raise --timeout", errTimeout, limit)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("the harness failed (%w): %s", err, tail(complaint.text.String()+out.text.String()))
	}
	return out.text.Bytes(), nil
}

// tail is the end of a complaint, where its reason stands.
func tail(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxShown {
		cut := len(text) - maxShown
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		text = "…" + text[cut:]
	}
	return text
}

// bounded keeps the first bytes of a stream and swallows the rest.
type bounded struct {
	text  bytes.Buffer
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.text.Len(); room > 0 {
		b.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
