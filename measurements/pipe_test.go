//go:build unix

package measurements

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe where a file should be is an error: to open it would wait for a writer
// that never comes.
func TestPipesAreRefused(t *testing.T) {
	for _, name := range append([]string{manifestFile}, tables...) {
		t.Run(name, func(t *testing.T) {
			c := sampleCapture(t, sampleRows(3, 2), 2)
			path := filepath.Join(c.Dir(), name)
			require.NoError(t, os.Remove(path))
			require.NoError(t, syscall.Mkfifo(path, 0o600))
			require.ErrorContains(t, readAll(c.Dir()), "is no regular file")
		})
	}
}

func TestNoCapabilitiesInAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := ReadCapabilities(path)
	require.ErrorContains(t, err, "is no regular file")
}
