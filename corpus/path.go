package corpus

import (
	"cmp"
	"path"
	"strings"
)

// NormalizePath turns the path that a finding claims into the path of a file of
// the side, or into a tidy path that names none. It undoes only what tools and
// models are known to do: backslashes, "./", a leading side folder
// ("vulnerable/", "fixed/"), and the directory in front of the corpus of an
// absolute path when exactly one file of the side fits the rest. It never looks
// at base names alone: a finding in another file is another finding (scoring
// vectors v11, v19). side may be nil.
func NormalizePath(claimed string, side *Side) string {
	p := tidy(strings.ReplaceAll(claimed, `\`, "/"))
	for {
		if _, ok := side.File(p); ok || p == "" {
			return p
		}
		if strings.HasPrefix(p, "/") || hasDrive(p) {
			return onlySuffix(p, side)
		}
		rest, ok := cutSide(p)
		if !ok {
			return p
		}
		p = tidy(rest)
	}
}

// tidy removes blanks around the path and what path.Clean removes, until
// neither finds more.
func tidy(p string) string {
	for {
		trimmed := strings.TrimSpace(p)
		if trimmed == "" {
			return ""
		}
		if clean := path.Clean(trimmed); clean != p {
			p = clean
			continue
		}
		return p
	}
}

// cutSide removes a leading side folder.
func cutSide(p string) (string, bool) {
	for _, name := range []SideName{Vulnerable, Fixed} {
		if rest, ok := strings.CutPrefix(p, string(name)+"/"); ok {
			return rest, true
		}
	}
	return p, false
}

func hasDrive(p string) bool {
	if len(p) < 3 || p[1] != ':' || p[2] != '/' {
		return false
	}
	c := p[0] | 0x20
	return c >= 'a' && c <= 'z'
}

// onlySuffix returns the one file of the side whose path ends p, or p itself.
func onlySuffix(p string, side *Side) string {
	if side == nil {
		return p
	}
	found := ""
	for _, f := range side.Files {
		if strings.HasSuffix(p, "/"+f.Path) {
			if found != "" {
				return p
			}
			found = f.Path
		}
	}
	return cmp.Or(found, p)
}
