// Package family is the closed, versioned taxonomy of bug families, and is
// opinionated about closure: a label that is neither a family, an alias nor a
// listed CWE is unmapped and never counts, and every CWE belongs to exactly one
// family. A fixed table beats walking the CWE tree, in which two tools disagree
// about depth and CWE-20 matches nearly everything (scoring-corpora.md 3).
package family

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Family is one class of bugs.
type Family struct {
	ID        ID
	What      string // one line for people and prompts
	CWE       []int
	Aliases   []string // further labels that mean this family
	OWASP2021 string   // main category such as "A03:2021"; "" = none
	OWASP2025 string
	KSTRL     []string // categories of kstrl that mean this family
	Default   bool     // false: only for corpora that ask for it
}

// Concern is one class of remarks of a code reviewer, a namespace apart from
// the families.
type Concern struct {
	ID        string
	CWE       []int
	OWASP2025 string
}

// Taxonomy is a checked list of families. It is immutable: what its methods
// return are copies. Load is the only constructor.
type Taxonomy struct {
	version  int
	families []Family
	concerns []Concern
	labels   map[string]int // folded id or alias -> index
	cwes     map[int]int
	kstrl    map[string]int
	hash     string
}

//go:embed families.toml
var embedded []byte

var loadDefault = sync.OnceValues(func() (*Taxonomy, error) { return Load("families.toml", embedded) })

// Default returns the embedded taxonomy.
func Default() *Taxonomy {
	t, err := loadDefault()
	if err != nil {
		// The embedded file is checked by the tests of this package, so only
		// a broken build gets here.
		panic(fmt.Sprintf("the embedded taxonomy is broken: %v", err))
	}
	return t
}

// Version returns the version that the file declares.
func (t *Taxonomy) Version() int { return t.version }

// Hash covers everything that the taxonomy says, not how the file is laid out.
func (t *Taxonomy) Hash() string { return t.hash }

// Families lists the families in the order of the file.
func (t *Taxonomy) Families() []Family {
	list := make([]Family, len(t.families))
	for i := range t.families {
		list[i] = t.families[i].clone()
	}
	return list
}

// Concerns lists the reviewer's concerns in the order of the file.
func (t *Taxonomy) Concerns() []Concern {
	list := slices.Clone(t.concerns)
	for i := range list {
		list[i].CWE = slices.Clone(list[i].CWE)
	}
	return list
}

// Family returns the family with exactly this id.
func (t *Taxonomy) Family(id ID) (Family, bool) {
	i := slices.IndexFunc(t.families, func(f Family) bool { return f.ID == id })
	if i < 0 {
		return Family{}, false
	}
	return t.families[i].clone(), true
}

// Lookup maps a label as a detector or a corpus writes it: a family id, an
// alias or a CWE in any usual spelling, in any case, with spaces, underscores
// and hyphens alike. Everything else is unmapped: "" and false.
func (t *Taxonomy) Lookup(label string) (ID, bool) {
	if i, ok := t.labels[fold(label)]; ok {
		return t.families[i].ID, true
	}
	if cwe, ok := ParseCWE(label); ok {
		return t.ByCWE(cwe)
	}
	return "", false
}

// ByCWE returns the family that a CWE belongs to.
func (t *Taxonomy) ByCWE(cwe int) (ID, bool) {
	i, ok := t.cwes[cwe]
	if !ok {
		return "", false
	}
	return t.families[i].ID, true
}

// ByKSTRL returns the family of a category of kstrl. "other" has none.
func (t *Taxonomy) ByKSTRL(category string) (ID, bool) {
	i, ok := t.kstrl[category]
	if !ok {
		return "", false
	}
	return t.families[i].ID, true
}

// ByOWASP lists the families whose main category is code, such as "A03:2021",
// in the order of the file. Single CWEs may sit elsewhere in the official list.
func (t *Taxonomy) ByOWASP(code string) []ID {
	var ids []ID
	for _, f := range t.families {
		if code != "" && (f.OWASP2021 == code || f.OWASP2025 == code) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

func (f Family) clone() Family {
	f.CWE, f.Aliases, f.KSTRL = slices.Clone(f.CWE), slices.Clone(f.Aliases), slices.Clone(f.KSTRL)
	return f
}

// sum hashes the checked content. Struct fields marshal in a fixed order.
func (t *Taxonomy) sum() (string, error) {
	data, err := json.Marshal(struct {
		Version  int
		Families []Family
		Concerns []Concern
	}{t.version, t.families, t.concerns})
	if err != nil {
		return "", fmt.Errorf("hashing the taxonomy: %w", err)
	}
	sum := sha256.Sum256(append([]byte("youden/taxonomy/1\n"), data...))
	return hex.EncodeToString(sum[:]), nil
}
