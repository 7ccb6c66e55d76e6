package detector

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/corpus/tomlfile"
)

//go:embed all:embedded
var embedded embed.FS

// maxLeverBytes bounds one text of a detector.
const maxLeverBytes = 1 << 20

// Embedded returns the detectors that ship with youden, each in a directory of
// its name, and the names of the controls.
func Embedded() (fsys fs.FS, names []string) {
	fsys, err := fs.Sub(embedded, "embedded")
	if err != nil { // the directory is compiled in
		return embedded, nil
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return fsys, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	names = append(names, "control:always", "control:never", "control:random")
	sort.Strings(names)
	return fsys, names
}

// LoadEmbedded returns the embedded detector or control of that name.
func LoadEmbedded(name string) (*Detector, error) {
	fsys, names := Embedded()
	if strings.HasPrefix(name, "control:") {
		d := &Detector{Name: name, Program: name, Task: "audit", Families: defaultFamilies()}
		_, err := NewControl(d)
		return d, err
	}
	for _, have := range names {
		if have == name {
			sub, err := fs.Sub(fsys, name)
			if err != nil {
				return nil, fmt.Errorf("detector %s: %w", name, err)
			}
			return Load(sub, name)
		}
	}
	return nil, fmt.Errorf("no detector %q: it is neither a directory with a %s nor one of %s", name, settingsFile, strings.Join(names, ", "))
}

func defaultFamilies() []family.ID {
	var ids []family.ID
	for _, f := range family.Default().Families() {
		if f.Default {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// settingsFile holds the frozen settings of a detector directory.
const settingsFile = "detector.toml"

// settings is the shape of detector.toml.
type settings struct {
	Version        int      `toml:"version"`
	Program        string   `toml:"program"`
	Task           string   `toml:"task"`
	Families       []string `toml:"families"`
	ResponseFormat string   `toml:"response_format"`
	Budget         struct {
		MaxTokens     int `toml:"max_tokens"`
		MaxInputBytes int `toml:"max_input_bytes"`
	} `toml:"budget"`
}

// Load reads a detector directory: detector.toml, the levers beside it and
// their overrides below families/FAMILY. It refuses what it does not know, so
// that a misspelt lever cannot be silently left out.
func Load(fsys fs.FS, name string) (*Detector, error) {
	data, err := fs.ReadFile(fsys, settingsFile)
	if err != nil {
		return nil, fmt.Errorf("detector %s: read %s: %w", name, settingsFile, err)
	}
	file := path.Join(name, settingsFile)
	var s settings
	pos, err := tomlfile.Decode(file, data, &s)
	if err != nil {
		return nil, err
	}
	d := &Detector{
		Name: name, Program: s.Program, Task: s.Task, ResponseFormat: s.ResponseFormat,
		Budget: Limits{MaxTokens: s.Budget.MaxTokens, MaxInputBytes: s.Budget.MaxInputBytes},
	}
	if err := d.adopt(s, file, pos); err != nil {
		return nil, err
	}
	if d.Levers, err = loadLevers(fsys, name, d.Families); err != nil {
		return nil, err
	}
	return d, nil
}

// adopt checks the settings and reports everything wrong with them at once.
func (d *Detector) adopt(s settings, file string, pos *tomlfile.Positions) error {
	var errs []error
	bad := func(message, remedy string, at ...any) {
		line, col := pos.At(at...)
		errs = append(errs, &tomlfile.Error{File: file, Line: line, Column: col, Message: message, Remedy: remedy})
	}
	if s.Version != 1 {
		bad(fmt.Sprintf("version is %d", s.Version), "write version = 1", "version")
	}
	if s.Program == "" {
		bad("program is missing", `write program = "oneshot"`)
	}
	if s.Task == "" {
		d.Task = "audit"
	}
	if len(s.Families) == 0 {
		bad("families is missing or empty: such a detector would look for nothing and report silence", `list at least one, such as families = ["injection"], or ["all"]`, "families")
	}
	switch s.ResponseFormat {
	case "", "json_object", "json_schema":
	default:
		bad(fmt.Sprintf("response_format %q is unknown", s.ResponseFormat), `use "json_object", "json_schema" or leave it out`, "response_format")
	}
	if s.Budget.MaxTokens < 0 || s.Budget.MaxInputBytes < 0 {
		bad("a budget is negative", "use 0 for no limit", "budget")
	}
	if len(s.Families) == 1 && s.Families[0] == "all" {
		d.Families = defaultFamilies()
		return errors.Join(errs...)
	}
	tax, seen := family.Default(), map[family.ID]bool{}
	for i, word := range s.Families {
		id := family.ID(word)
		switch _, known := tax.Family(id); {
		case !known:
			bad(fmt.Sprintf("family %q is not in the taxonomy", word), "the families are "+familyNames(tax), "families", i)
		case seen[id]:
			bad(fmt.Sprintf("family %q is listed twice", word), "list it once", "families", i)
		default:
			seen[id] = true
			d.Families = append(d.Families, id)
		}
	}
	return errors.Join(errs...)
}

func familyNames(tax *family.Taxonomy) string {
	var names []string
	for _, f := range tax.Families() {
		names = append(names, string(f.ID))
	}
	return strings.Join(names, ", ")
}

// loadLevers reads the shared levers and the overrides of the families.
func loadLevers(fsys fs.FS, name string, families []family.ID) (Levers, error) {
	levers := Levers{Override: map[family.ID]map[Lever]string{}}
	var err error
	if levers.Shared, err = readLevers(fsys, ".", name, settingsFile, "families", "README.md"); err != nil {
		return Levers{}, err
	}
	dirs, err := fs.ReadDir(fsys, "families")
	if errors.Is(err, fs.ErrNotExist) {
		return levers, nil
	}
	if err != nil {
		return Levers{}, fmt.Errorf("detector %s: read families/: %w", name, err)
	}
	for _, dir := range dirs {
		id, listed := family.ID(dir.Name()), false
		for _, f := range families {
			listed = listed || f == id
		}
		if !listed {
			return Levers{}, fmt.Errorf("detector %s: families/%s overrides a family that %s does not list; add it there or remove the folder", name, dir.Name(), settingsFile)
		}
		if levers.Override[id], err = readLevers(fsys, path.Join("families", dir.Name()), name); err != nil {
			return Levers{}, err
		}
	}
	return levers, nil
}

// readLevers reads the lever files of one directory and refuses any other file
// that is not allowed there.
func readLevers(fsys fs.FS, dir, name string, allowed ...string) (map[Lever]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("detector %s: read %s: %w", name, dir, err)
	}
	known := map[string]Lever{}
	for _, l := range LeverNames() {
		known[l.File()] = l
	}
	out := map[Lever]string{}
next:
	for _, e := range entries {
		if lever, ok := known[e.Name()]; ok {
			text, err := readLever(fsys, path.Join(dir, e.Name()), lever)
			if err != nil {
				return nil, fmt.Errorf("detector %s: %w", name, err)
			}
			out[lever] = text
			continue
		}
		for _, a := range allowed {
			if e.Name() == a {
				continue next
			}
		}
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		return nil, fmt.Errorf("detector %s: %s is no lever of a detector; the levers are %s", name, path.Join(dir, e.Name()), leverFiles())
	}
	return out, nil
}

func readLever(fsys fs.FS, file string, lever Lever) (string, error) {
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", file)
	}
	if info.Size() > maxLeverBytes {
		return "", fmt.Errorf("%s has %d bytes, over the limit of %d", file, info.Size(), maxLeverBytes)
	}
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("%s is not valid UTF-8; save it as UTF-8", file)
	}
	if lever == HardNegatives || lever == Counterexamples {
		if _, err := ParseExamples(file, string(data)); err != nil {
			return "", err
		}
	}
	return string(data), nil
}

func leverFiles() string {
	var names []string
	for _, l := range LeverNames() {
		names = append(names, l.File())
	}
	return strings.Join(names, ", ")
}
