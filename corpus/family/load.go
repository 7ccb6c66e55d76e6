package family

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/youden-bench/youden/corpus/tomlfile"
)

// maxCWE is far above the list of MITRE, which ends below 2000: a larger
// number is a slip of the keyboard.
const maxCWE = 9999

var (
	idPattern    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	owaspPattern = regexp.MustCompile(`^A(0[1-9]|10):20\d\d$`)
)

type document struct {
	Version       int            `toml:"version"`
	UnmappedKSTRL []string       `toml:"unmapped_kstrl"`
	Families      []familyEntry  `toml:"family"`
	Review        []concernEntry `toml:"review"`
}

type familyEntry struct {
	ID        string   `toml:"id"`
	What      string   `toml:"what"`
	CWE       []int    `toml:"cwe"`
	Aliases   []string `toml:"aliases"`
	OWASP2021 string   `toml:"owasp_2021"`
	OWASP2025 string   `toml:"owasp_2025"`
	KSTRL     []string `toml:"kstrl"`
	Default   *bool    `toml:"default"`
}

type concernEntry struct {
	ID        string `toml:"id"`
	CWE       []int  `toml:"cwe"`
	OWASP2025 string `toml:"owasp_2025"`
}

// Load reads and checks a families.toml, called name in errors. The error joins
// every mistake in the file, each a *tomlfile.Error with line and column.
func Load(name string, data []byte) (*Taxonomy, error) {
	var doc document
	positions, err := tomlfile.Decode(name, data, &doc)
	if err != nil {
		return nil, fmt.Errorf("taxonomy: %w", err)
	}
	l := &loader{
		positions: positions,
		taxonomy: &Taxonomy{
			version: doc.Version,
			labels:  map[string]int{},
			cwes:    map[int]int{},
			kstrl:   map[string]int{},
		},
		cwePlace: map[int]string{},
	}
	l.load(&doc)
	if err := errors.Join(l.errs...); err != nil {
		return nil, fmt.Errorf("taxonomy: %w", err)
	}
	if l.taxonomy.hash, err = l.taxonomy.sum(); err != nil {
		return nil, err
	}
	return l.taxonomy, nil
}

type loader struct {
	positions *tomlfile.Positions
	taxonomy  *Taxonomy
	cwePlace  map[int]string // CWE -> the family or concern that has it
	errs      []error
}

func (l *loader) fault(message, remedy string, path ...any) {
	l.errs = append(l.errs, l.positions.Fault(message, remedy, path...))
}

func (l *loader) load(doc *document) {
	switch {
	case !l.positions.Has("version"):
		l.fault("the taxonomy has no version", "write version = 1 at the top")
	case doc.Version < 1:
		l.fault(fmt.Sprintf("version %d is not positive", doc.Version), "count versions from 1", "version")
	}
	if len(doc.Families) == 0 {
		l.fault("the taxonomy has no families", "add a [[family]]", "family")
	}
	// Ids first: an alias must not shadow a family that stands further down.
	for i, entry := range doc.Families {
		l.id(entry.ID, i)
	}
	for i, entry := range doc.Families {
		l.family(entry, i)
	}
	for i, entry := range doc.Review {
		l.concern(entry, i)
	}
	for i, category := range doc.UnmappedKSTRL {
		if at, ok := l.taxonomy.kstrl[category]; ok {
			l.fault(fmt.Sprintf("kstrl category %q is listed as unmapped and belongs to family %q", category, l.taxonomy.families[at].ID),
				"keep one of the two", "unmapped_kstrl", i)
		}
	}
}

func (l *loader) id(id string, i int) {
	l.taxonomy.families = append(l.taxonomy.families, Family{ID: ID(id)})
	if !idPattern.MatchString(id) {
		l.fault(fmt.Sprintf("family id %q is not a name", id), "use lower-case letters, digits and underscores", "family", i, "id")
		return
	}
	if earlier, ok := l.taxonomy.labels[fold(id)]; ok {
		l.fault(fmt.Sprintf("family %q is listed twice, first as number %d", id, earlier+1), "merge the two tables", "family", i, "id")
		return
	}
	l.taxonomy.labels[fold(id)] = i
}

func (l *loader) family(entry familyEntry, i int) {
	f := &l.taxonomy.families[i]
	*f = Family{ID: ID(entry.ID), What: entry.What, CWE: entry.CWE, Aliases: entry.Aliases, OWASP2021: entry.OWASP2021,
		OWASP2025: entry.OWASP2025, KSTRL: entry.KSTRL, Default: entry.Default == nil || *entry.Default}
	if entry.What == "" {
		l.fault(fmt.Sprintf("family %q does not say what it is", entry.ID), `add what = "one line"`, "family", i, "what")
	}
	if len(entry.CWE) == 0 {
		l.fault(fmt.Sprintf("family %q has no CWE", entry.ID), "add cwe = [...]", "family", i, "cwe")
	}
	for j, cwe := range entry.CWE {
		if l.cwe(cwe, entry.ID, "family", i, "cwe", j) {
			l.taxonomy.cwes[cwe] = i
		}
	}
	l.aliases(entry, i)
	l.owasp(entry.OWASP2021, "2021", "family", i, "owasp_2021")
	l.owasp(entry.OWASP2025, "2025", "family", i, "owasp_2025")
	for j, category := range entry.KSTRL {
		if earlier, ok := l.taxonomy.kstrl[category]; ok || category == "" {
			message := "an empty kstrl category"
			if ok {
				message = fmt.Sprintf("kstrl category %q is in family %q already", category, l.taxonomy.families[earlier].ID)
			}
			l.fault(message, "remove it", "family", i, "kstrl", j)
			continue
		}
		l.taxonomy.kstrl[category] = i
	}
}

// cwe checks one number and who owns it already.
func (l *loader) cwe(cwe int, owner string, path ...any) bool {
	if cwe < 1 || cwe > maxCWE {
		l.fault(fmt.Sprintf("%q lists CWE %d, which cannot exist", owner, cwe), fmt.Sprintf("CWEs lie between 1 and %d", maxCWE), path...)
		return false
	}
	if earlier, ok := l.cwePlace[cwe]; ok {
		message := fmt.Sprintf("CWE-%d is in %q and in %q", cwe, earlier, owner)
		if earlier == owner {
			message = fmt.Sprintf("CWE-%d is listed twice in %q", cwe, owner)
		}
		l.fault(message, "each CWE belongs to one family; keep one", path...)
		return false
	}
	l.cwePlace[cwe] = owner
	return true
}

func (l *loader) aliases(entry familyEntry, i int) {
	own := map[string]bool{}
	for j, alias := range entry.Aliases {
		folded := fold(alias)
		at, taken := l.taxonomy.labels[folded]
		_, isCWE := ParseCWE(alias)
		switch {
		case folded == "":
			l.fault(fmt.Sprintf("family %q has an empty alias", entry.ID), "remove it", "family", i, "aliases", j)
		case isCWE:
			l.fault(fmt.Sprintf("alias %q of family %q is a CWE", alias, entry.ID), "list it under cwe", "family", i, "aliases", j)
		case own[folded]:
			l.fault(fmt.Sprintf("alias %q is listed twice in family %q", alias, entry.ID),
				"remove one; case, spaces, underscores and hyphens do not matter", "family", i, "aliases", j)
		case taken && at != i:
			l.fault(fmt.Sprintf("alias %q of family %q already means family %q", alias, entry.ID, l.taxonomy.families[at].ID),
				"a label means one family; keep one", "family", i, "aliases", j)
		default:
			l.taxonomy.labels[folded] = i
		}
		own[folded] = true
	}
}

func (l *loader) owasp(code, year string, path ...any) {
	if code == "" && !l.positions.Has(path...) {
		return // the official list has no home for some families
	}
	if !owaspPattern.MatchString(code) || code[len(code)-len(year):] != year {
		l.fault(fmt.Sprintf("%q is not an OWASP category of %s", code, year), fmt.Sprintf("write A01:%s to A10:%s, or leave the key out", year, year), path...)
	}
}

func (l *loader) concern(entry concernEntry, i int) {
	if !idPattern.MatchString(entry.ID) {
		l.fault(fmt.Sprintf("concern id %q is not a name", entry.ID), "use lower-case letters, digits and underscores", "review", i, "id")
	}
	for _, earlier := range l.taxonomy.concerns {
		if earlier.ID == entry.ID {
			l.fault(fmt.Sprintf("concern %q is listed twice", entry.ID), "merge the two tables", "review", i, "id")
		}
	}
	if at, ok := l.taxonomy.labels[fold(entry.ID)]; ok {
		l.fault(fmt.Sprintf("concern %q already means family %q", entry.ID, l.taxonomy.families[at].ID), "give it another id", "review", i, "id")
	}
	for j, cwe := range entry.CWE {
		l.cwe(cwe, entry.ID, "review", i, "cwe", j)
	}
	l.owasp(entry.OWASP2025, "2025", "review", i, "owasp_2025")
	l.taxonomy.concerns = append(l.taxonomy.concerns, Concern(entry))
}
