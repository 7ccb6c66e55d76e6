package corpus

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/youden-bench/youden/corpus/family"
)

// drawCorpus makes cases with groups, families and, now and then, copies.
func drawCorpus(t *rapid.T) *Corpus {
	n := rapid.IntRange(1, 60).Draw(t, "cases")
	families := []family.ID{"injection", "path", "crypto", "ssrf"}
	c := &Corpus{}
	for i := range n {
		text := fmt.Sprintf("case %d", i)
		if i > 0 && rapid.IntRange(0, 9).Draw(t, "copy") == 0 {
			text = fmt.Sprintf("case %d", rapid.IntRange(0, i-1).Draw(t, "of"))
		}
		c.Cases = append(c.Cases, &Case{
			ID:         fmt.Sprintf("id-%d", i),
			Group:      fmt.Sprintf("group-%d", rapid.IntRange(0, n).Draw(t, "group")),
			Family:     rapid.SampledFrom(families).Draw(t, "family"),
			Vulnerable: &Side{Files: []File{{Path: "a.go", Text: []byte(text)}}},
		})
	}
	return c
}

func TestDrawNeverTearsAGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCorpus(t)
		place := map[string]Split{}
		for i, a := range c.Draw(rapid.Uint64().Draw(t, "seed")).Cases {
			for _, key := range []string{"group " + c.Cases[i].Group, "content " + a.Content} {
				if earlier, ok := place[key]; ok && earlier != a.Split {
					t.Fatalf("%s lies in %s and %s", key, earlier, a.Split)
				}
				place[key] = a.Split
			}
		}
	})
}

func TestDrawDependsOnContentAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCorpus(t)
		seed := rapid.Uint64().Draw(t, "seed")
		before := c.Draw(seed)
		order := rapid.Permutation(indices(len(c.Cases))).Draw(t, "order")
		moved := &Corpus{}
		for _, i := range order {
			k := *c.Cases[i]
			k.ID, k.Title, k.Slice, k.Group = "new-"+k.ID, "other", "other", "renamed "+k.Group
			moved.Cases = append(moved.Cases, &k)
		}
		after := moved.Draw(seed)
		for at, i := range order {
			if before.Cases[i].Split != after.Cases[at].Split {
				t.Fatalf("case %d was in %s and is in %s", i, before.Cases[i].Split, after.Cases[at].Split)
			}
		}
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestDrawHoldsOutAThird(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCorpus(t)
		for i, k := range c.Cases { // groups of at most three
			k.Group = fmt.Sprintf("group-%d", i/rapid.IntRange(1, 3).Draw(t, "size"))
		}
		sizes := map[Split]int{}
		largest := 0
		drawn := c.Draw(rapid.Uint64().Draw(t, "seed")).Cases
		for _, a := range drawn {
			sizes[a.Split]++
		}
		for _, b := range blockSizes(c) {
			largest = max(largest, b)
		}
		// No split can be further from its third than the pieces are large,
		// once for each family that pulls its own way.
		allowed := largest * 4
		for _, s := range []Split{Holdout, Feedback, Pareto} {
			if off := 3*sizes[s] - len(drawn); off > 3*allowed || off < -3*allowed {
				t.Fatalf("%s has %d of %d cases, with blocks of up to %d", s, sizes[s], len(drawn), largest)
			}
		}
	})
}

func blockSizes(c *Corpus) []int {
	keys := make([][]string, len(c.Cases))
	for i, k := range c.Cases {
		keys[i] = []string{"g" + k.Group, "c" + k.ContentHash()}
	}
	sizes := make([]int, len(c.Cases))
	for _, g := range groupsOf(keys) {
		sizes[g]++
	}
	return sizes
}

func TestDrawIsStratified(t *testing.T) {
	for seed := range uint64(20) {
		c := &Corpus{}
		for _, f := range []family.ID{"injection", "path", "crypto"} {
			for i := range 9 {
				id := fmt.Sprintf("%s-%d", f, i)
				c.Cases = append(c.Cases, &Case{ID: id, Group: id, Family: f, Fixed: &Side{Files: []File{{Path: "a", Text: []byte(id)}}}})
			}
		}
		count := map[string]int{}
		for i, a := range c.Draw(seed).Cases {
			count[fmt.Sprintf("%s %s", c.Cases[i].Family, a.Split)]++
		}
		for key, n := range count {
			assert.Equal(t, 3, n, "seed %d: %s", seed, key)
		}
		assert.Len(t, count, 9)
	}
}

func TestDrawBalancesFamiliesOfOne(t *testing.T) {
	for seed := range uint64(20) {
		c := &Corpus{}
		for i := range 12 {
			id := fmt.Sprint(i)
			c.Cases = append(c.Cases, &Case{ID: id, Group: id, Family: family.ID(id), Fixed: &Side{Files: []File{{Path: "a", Text: []byte(id)}}}})
		}
		count := map[Split]int{}
		for _, a := range c.Draw(seed).Cases {
			count[a.Split]++
		}
		assert.Equal(t, map[Split]int{Holdout: 4, Feedback: 4, Pareto: 4}, count, "seed %d", seed)
	}
}

func TestDrawDependsOnTheSeed(t *testing.T) {
	c := &Corpus{}
	for i := range 12 {
		id := fmt.Sprint(i)
		c.Cases = append(c.Cases, &Case{ID: id, Group: id, Family: "path", Fixed: &Side{Files: []File{{Path: "a", Text: []byte(id)}}}})
	}
	different := slices.ContainsFunc(indices(5), func(seed int) bool {
		return !slices.Equal(c.Draw(uint64(seed)).Cases, c.Draw(uint64(seed+1)).Cases)
	})
	assert.True(t, different)
	assert.Equal(t, c.Draw(3), c.Draw(3))
}
