//go:build unix

package kstrl

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoadRefusesAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline-1.json")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := Load(path, Lenient)
	require.ErrorContains(t, err, "is no regular file")
}
