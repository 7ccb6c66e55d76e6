package corpus

import (
	"cmp"
	"slices"
	"strings"
)

// groupsOf joins items that share a key, directly or through others, and
// returns for each item the index of the first item of its group. A pair, its
// copies and everything from one commit are not independent (vector c12).
func groupsOf(keys [][]string) []int {
	parent := make([]int, len(keys))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	owner := map[string]int{}
	for i, own := range keys {
		for _, key := range own {
			first, seen := owner[key]
			if !seen {
				owner[key] = i
				continue
			}
			a, b := find(first), find(i)
			parent[max(a, b)] = min(a, b)
		}
	}
	groups := make([]int, len(keys))
	for i := range groups {
		groups[i] = find(i)
	}
	return groups
}

// origin is where a pair comes from, as far as a manifest says.
type origin struct {
	repo, commit string
}

// keys name what two dependent cases have in common.
func (o origin) keys(content string) []string {
	keys := []string{"content:" + content}
	if o.repo != "" {
		keys = append(keys, "repo:"+o.repo)
	}
	if o.commit != "" {
		keys = append(keys, "commit:"+strings.ToLower(o.commit))
	}
	return keys
}

// repoName makes the spellings of one repository equal: "owner/name".
func repoName(url string) string {
	name := strings.ToLower(strings.TrimSpace(url))
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	name = strings.TrimSuffix(strings.TrimRight(name, "/"), ".git")
	return strings.TrimPrefix(strings.TrimPrefix(name, "www."), "github.com/")
}

// group names the groups of cases by their origins: by the first repository in
// the alphabet, or by content where there is none. Neither depends on the order
// or the ids of the cases.
func group(cases []*Case, origins []origin) {
	keys := make([][]string, len(cases))
	names := make([]string, len(cases))
	for i, c := range cases {
		content := c.ContentHash()
		keys[i] = origins[i].keys(content)
		names[i] = cmp.Or(origins[i].repo, "~content-"+content[:12])
	}
	members := map[int][]string{}
	groups := groupsOf(keys)
	for i, g := range groups {
		members[g] = append(members[g], names[i])
	}
	for i, c := range cases {
		c.Group = strings.TrimPrefix(slices.Min(members[groups[i]]), "~")
	}
}
