package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	commitA = strings.Repeat("a1", 20)
	commitB = strings.Repeat("b2", 32) // SHA-256
)

// folder lays files out, given as names and contents in turn.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(root, filepath.FromSlash(files[i]))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(files[i+1]), 0o644))
	}
	return root
}

func TestCommitAt(t *testing.T) {
	const branch = "ref: refs/heads/main\n"
	packed := "# pack-refs with: peeled fully-peeled sorted\n" + commitB + " refs/heads/main\n^" + commitA + "\n" + commitA + " refs/heads/maint\n"
	for _, c := range []struct {
		name, at string
		files    []string
		want     string
	}{
		{"detached", ".", []string{".git/HEAD", commitA + "\n"}, commitA},
		{"on a branch", ".", []string{".git/HEAD", branch, ".git/refs/heads/main", commitA + "\n"}, commitA},
		{"in a folder below", "a/b", []string{".git/HEAD", branch, ".git/refs/heads/main", commitA, "a/b/c", ""}, commitA},
		{"packed", ".", []string{".git/HEAD", branch, ".git/packed-refs", packed}, commitB},
		{"a loose ref goes before a packed one", ".", []string{".git/HEAD", branch, ".git/refs/heads/main", commitA, ".git/packed-refs", packed}, commitA},
		{"a ref to a ref", ".", []string{".git/HEAD", "ref: refs/heads/alias", ".git/refs/heads/alias", branch, ".git/refs/heads/main", commitA}, commitA},
		{"a work tree", "tree", []string{"tree/.git", "gitdir: ../main/.git/worktrees/tree\n", "main/.git/worktrees/tree/HEAD", branch,
			"main/.git/worktrees/tree/commondir", "../..\n", "main/.git/refs/heads/main", commitA, "main/.git/HEAD", commitB}, commitA},
		{"a submodule", "sub", []string{".git/HEAD", commitB, ".git/modules/sub/HEAD", commitA, "sub/.git", "gitdir: ../.git/modules/sub"}, commitA},

		{"no commit yet", ".", []string{".git/HEAD", branch}, ""},
		{"another store of refs", ".", []string{".git/HEAD", "ref: refs/heads/.invalid\n"}, ""},
		{"no hash", ".", []string{".git/HEAD", "deadbeef"}, ""},
		{"a hash in capitals", ".", []string{".git/HEAD", strings.ToUpper(commitA)}, ""},
		{"a ref out of the repository", ".", []string{".git/HEAD", "ref: refs/../../secret", "secret", commitA}, ""},
		{"a ref that is a path", ".", []string{".git/HEAD", "ref: secret", ".git/secret", commitA}, ""},
		{"refs in a circle", ".", []string{".git/HEAD", branch, ".git/refs/heads/main", branch}, ""},
		{"a file that is too large", ".", []string{".git/HEAD", commitA + "\n" + strings.Repeat("x", maxRefFile)}, ""},
		{"a directory for HEAD", ".", []string{".git/HEAD/x", ""}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := CommitAt(filepath.Join(folder(t, c.files...), c.at))
			if c.want == "" {
				assert.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			assert.Equal(t, c.want, *got)
		})
	}
}

func TestCommitAtTakesTheFirstRepository(t *testing.T) {
	a, b := folder(t, ".git/HEAD", commitA), folder(t, ".git/HEAD", commitB)
	assert.Equal(t, commitA, *CommitAt("", a, b))
	assert.Equal(t, commitB, *CommitAt(b, a))
	assert.Nil(t, CommitAt())
	assert.Nil(t, CommitAt(folder(t, ".git/HEAD", "none yet"), b), "the repository is there, and has no commit")
}

// Nothing is read that could block or never end.
func TestCommitAtReadsFilesOnly(t *testing.T) {
	root := folder(t, ".git/config", "")
	require.NoError(t, os.Symlink(os.DevNull, filepath.Join(root, ".git", "HEAD")))
	assert.Nil(t, CommitAt(root))
}
