package compare

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// CommitAt is the commit that is checked out in the git repository around one of
// the folders, the first that lies in one; nil when none does or it cannot be
// read. The files are read and no git is run: a program in an unknown folder that
// obeys the folder's configuration is more than a question after a commit is
// worth. Whether files have changed since is therefore not known.
func CommitAt(folders ...string) *string {
	for _, folder := range folders {
		if folder == "" {
			continue
		}
		if dir := gitDir(folder); dir != "" {
			return checkedOut(dir)
		}
	}
	return nil
}

const (
	maxRefFile    = 4 << 10
	maxPackedRefs = 64 << 20
	maxRefs       = 5 // symbolic refs that follow each other
)

// gitDir finds the .git of the repository around a folder: a directory, or a file
// that points to one, as in a work tree or a submodule.
func gitDir(folder string) string {
	at, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	for {
		dot := filepath.Join(at, ".git")
		if info, err := os.Stat(dot); err == nil && info.IsDir() {
			return dot
		}
		if target, ok := strings.CutPrefix(firstLine(dot), "gitdir: "); ok {
			return resolve(at, target)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return ""
		}
		at = parent
	}
}

// resolve reads a path that may be relative to a folder.
func resolve(folder, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

var objectName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// checkedOut follows HEAD to a commit. Refs of a work tree stand in its own directory or
// in the common one, loose or packed.
func checkedOut(dir string) *string {
	common := dir
	if path := firstLine(filepath.Join(dir, "commondir")); path != "" {
		common = resolve(dir, path)
	}
	value := firstLine(filepath.Join(dir, "HEAD"))
	for range maxRefs {
		name, symbolic := strings.CutPrefix(value, "ref: ")
		if !symbolic {
			break
		}
		if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil
		}
		value = firstLine(filepath.Join(dir, filepath.FromSlash(name)))
		if value == "" {
			value = firstLine(filepath.Join(common, filepath.FromSlash(name)))
		}
		if value == "" {
			value = packed(filepath.Join(common, "packed-refs"), name)
		}
	}
	if !objectName.MatchString(value) {
		return nil
	}
	return &value
}

// firstLine of a small regular file, "" when there is none.
func firstLine(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRefFile {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil || len(data) > maxRefFile {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// packed looks a ref up among the packed ones.
func packed(file, name string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(io.LimitReader(f, maxPackedRefs))
	for lines.Scan() {
		if value, ref, ok := strings.Cut(lines.Text(), " "); ok && ref == name {
			return value
		}
	}
	return ""
}
