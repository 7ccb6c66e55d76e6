package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// root is the module under test.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	return dir
}

// sharedFile finds a file of the shared folder, which lies beside the module or where
// YOUDEN_SHARED says, or skips the test.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(root(t), "..", "shared", name)
	if dir := os.Getenv("YOUDEN_SHARED"); dir != "" {
		path = filepath.Join(dir, name)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not at hand (%v); set YOUDEN_SHARED to the folder that holds it", name, err)
	}
	return path
}

var built = struct {
	sync.Once
	path string
	err  error
}{}

// binary is the command under test: YOUDEN_BINARY, or built from the tree.
func binary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("YOUDEN_BINARY"); path != "" {
		return path
	}
	dir := root(t)
	built.Do(func() {
		built.path = filepath.Join(os.TempDir(), "youden-conformance", "youden")
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", built.path, "./cmd/youden")
		cmd.Dir = dir
		var out []byte
		if out, built.err = cmd.CombinedOutput(); built.err != nil {
			built.err = errors.New(string(out))
		}
	})
	require.NoError(t, built.err)
	return built.path
}

// environment is what the processes see: nothing of the caller's settings or keys.
func environment(t *testing.T, more ...string) []string {
	t.Helper()
	env := []string{"HOME=" + t.TempDir()}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name != "HOME" && !strings.HasPrefix(name, "YOUDEN_") && !strings.HasPrefix(name, "OPENAI_") {
			env = append(env, pair)
		}
	}
	return append(env, more...)
}

// outcome is how a command ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// youden runs one command line to its end, in dir.
func youden(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t), args...)
	cmd.Dir, cmd.Env = dir, environment(t)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err, "youden %v", args)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

var listening = regexp.MustCompile(`https?://[^\s/]+`)

// serve starts a server that prints its URL, waits for that line, and ends it with
// the test. It returns the URL without a path.
func serve(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	lines := make(chan string)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		found := false
		for scan := bufio.NewScanner(stdout); scan.Scan(); {
			if url := listening.FindString(scan.Text()); url != "" && !found {
				found = true
				lines <- url
			}
		}
		if !found {
			close(lines)
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		stopped := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		<-drained
		_ = cmd.Wait()
		stopped.Stop()
	})
	select {
	case url, ok := <-lines:
		require.True(t, ok, "%v ended without a URL: %s", cmd.Args, &stderr)
		return url
	case <-time.After(60 * time.Second):
		require.Fail(t, "no URL in time", "%v: %s", cmd.Args, &stderr)
	}
	return ""
}

// simulate starts `youden simulate` on a free port and returns its base URL.
func simulate(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary(t), append([]string{"simulate", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Env = t.TempDir(), environment(t, "CONFORMANCE_KEY="+apiKey)
	return serve(t, cmd) + "/v1"
}

// apiKey is the only key that simulate accepts when started with --key-env
// CONFORMANCE_KEY.
const apiKey = "sk-conformance-0123456789"

// requests is how many requests a simulated endpoint has had.
func requests(t *testing.T, base string) int {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(base, "/v1") + "/-/stats")
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	var stats struct {
		Requests int `json:"requests"`
	}
	require.NoError(t, json.Unmarshal(body, &stats))
	return stats.Requests
}
