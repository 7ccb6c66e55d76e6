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
	// folderMark stands for the folder of a trial.
	folderMark = "<folder>"
)

// report is what a harness says on its last line.
type report struct {
	Payload *string `json:"payload"`
	Effect  *string `json:"effect"`
}

// run runs a harness once and fills the trial with what it showed.
func (t *Trial) run(ctx context.Context, command, env []string, w workshop, limit time.Duration) error {
	said, err := run(ctx, command, env, w, limit)
	if err != nil {
		return err
	}
	r, err := lastReport(said)
	if err != nil {
		return fmt.Errorf("%w; it said %q", err, w.shown(lastLine(said)))
	}
	if strings.Contains(strings.ToLower(*r.Payload), w.token) {
		return errors.New("the payload holds the token, so that an echo would pass for an effect")
	}
	t.Seen = strings.Contains(*r.Effect, w.token)
	t.Payload, t.Effect = w.shown(*r.Payload), w.shown(*r.Effect)
	return nil
}

func newToken() (string, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("drawing a token: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// shown makes a text fit for keeping: short, and without the token and the
// folders, which are others in every trial.
func (w workshop) shown(text string) string {
	text = strings.NewReplacer(w.token, tokenMark, w.base, folderMark).Replace(text)
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

var errNoReport = errors.New(`the harness did not end with a line {"payload": ..., "effect": ...}`)

// lastReport reads the last line of a harness.
func lastReport(output []byte) (report, error) {
	var r report
	if err := json.Unmarshal([]byte(lastLine(output)), &r); err != nil || r.Payload == nil || r.Effect == nil {
		return r, errNoReport
	}
	return r, nil
}

func lastLine(output []byte) string {
	lines := bytes.Split(bytes.TrimSpace(output), []byte{'\n'})
	return string(lines[len(lines)-1])
}

// errTimeout is a harness that did not end.
var errTimeout = errors.New("did not end in time")

// run starts a command in a workshop and returns what it wrote; a failure carries
// what it complained of last. What the command has started ends with it, unless it
// has left the process group.
func run(ctx context.Context, command, env []string, w workshop, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the command is one of ours
	cmd.Dir, cmd.Env = w.side, env
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
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, errors.New("the harness ended and left a process running that holds its output")
	case err != nil:
		return nil, fmt.Errorf("the harness failed (%w); a refusal that the code means has to be caught by its type and printed as the effect: %s", err, w.tail(complaint.text.String(), out.text.String()))
	}
	return out.text.Bytes(), nil
}

// complaintLines is how much of a traceback is kept.
const complaintLines = 12

// tail is the end of what a harness complained of, where the reason stands.
func (w workshop) tail(complaint, output string) string {
	text := strings.TrimSpace(complaint)
	if text == "" {
		text = strings.TrimSpace(output)
	}
	lines := strings.Split(text, "\n")
	if len(lines) > complaintLines {
		lines = lines[len(lines)-complaintLines:]
	}
	return w.shown(strings.Join(lines, "\n"))
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
