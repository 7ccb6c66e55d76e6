package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/corpus/tomlfile"
)

// pairsDir holds the files of the pairs, beside the manifest.
const pairsDir = "pairs"

// pairEntry is one pair of a bench.pairs/1 manifest, as far as it is read.
type pairEntry struct {
	ID       string   `json:"id"`
	Family   string   `json:"family"`
	Accept   []string `json:"accept_families"`
	CWE      string   `json:"cwe"`
	Language string   `json:"language"`
	Title    string   `json:"title"`
	Kind     string   `json:"kind"`
	Fragment bool     `json:"fragment"`
	Source   struct {
		Repo        string `json:"repo"`
		FixedCommit string `json:"fixed_commit"`
	} `json:"source"`
	Files struct {
		Vulnerable []string `json:"vulnerable"`
		Fixed      []string `json:"fixed"`
	} `json:"files"`
	Spans     []pairSpan `json:"spans"`
	FixedSide struct {
		KnownResidual *string `json:"known_residual"`
	} `json:"fixed_side"`
}

type pairSpan struct {
	File        string `json:"file"`
	Start       int    `json:"start_line"`
	End         int    `json:"end_line"`
	TextFirst   string `json:"text_first"`
	TextLast    string `json:"text_last"`
	FixedRegion []int  `json:"fixed_region"`
}

// manifestLoader reads a manifest.json and collects every mistake.
type manifestLoader struct {
	data     []byte
	reader   *reader
	taxonomy *family.Taxonomy
	corpus   *Corpus
	origins  []origin
	ids      map[string]bool
	errs     []error

	mark   mark   // the last place that was asked for
	offset int    // of the pair being read
	pair   string // its id
}

func loadManifest(fsys fs.FS, o Options) (*Corpus, error) {
	files := &reader{fsys: fsys}
	data, err := files.document(ManifestFile)
	if err != nil {
		return nil, err
	}
	l := &manifestLoader{
		data: data, reader: files, taxonomy: o.Taxonomy, ids: map[string]bool{},
		corpus: &Corpus{Source: FromManifest, Taxonomy: o.Taxonomy, root: fsys, places: map[*Case]place{}},
	}
	if !utf8.Valid(data) {
		return nil, l.at(0, "the manifest is not valid UTF-8", "save it as UTF-8")
	}
	head, pairs, err := l.document()
	if err != nil {
		return nil, err
	}
	l.head(head, len(pairs))
	for _, p := range pairs {
		if l.reader.read > maxCorpusBytes || len(l.errs) >= maxManifestErrors {
			break
		}
		l.entry(p)
	}
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	group(l.corpus.Cases, l.origins)
	return l.corpus, nil
}

type manifestHead struct {
	Schema       string
	Set          string
	Count        *int
	MemorySafety bool
	LineNumbers  string
}

// rawPair is one element of "pairs" and where it starts.
type rawPair struct {
	offset int
	text   json.RawMessage
}

// document takes the manifest apart, keeping the offset of each pair.
func (l *manifestLoader) document() (head manifestHead, pairs []rawPair, err error) {
	dec := json.NewDecoder(bytes.NewReader(l.data))
	syntax := func(err error) error {
		return l.at(syntaxOffset(err, dec.InputOffset()), "the manifest is not the JSON of a manifest: "+err.Error(), "correct the file, or fetch it again")
	}
	if err := delim(dec, '{'); err != nil {
		return head, nil, syntax(err)
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return head, nil, syntax(err)
		}
		key, _ := token.(string)
		if seen[key] {
			return head, nil, l.at(int(dec.InputOffset()), fmt.Sprintf("key %q is given twice", key), "keep one of them")
		}
		seen[key] = true
		var into any = new(json.RawMessage)
		switch key {
		case "schema":
			into = &head.Schema
		case "set":
			into = &head.Set
		case "count":
			into = &head.Count
		case "line_numbers":
			into = &head.LineNumbers
		case "memory_safety":
			into = &head.MemorySafety
		case "pairs":
			if pairs, err = l.pairs(dec); err != nil {
				return head, nil, syntax(err)
			}
			continue
		}
		if err := dec.Decode(into); err != nil {
			return head, nil, syntax(err)
		}
	}
	if err := delim(dec, '}'); err != nil {
		return head, nil, syntax(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return head, nil, l.at(int(dec.InputOffset()), "something follows the manifest", "remove it")
	}
	return head, pairs, nil
}

func (l *manifestLoader) pairs(dec *json.Decoder) ([]rawPair, error) {
	if err := delim(dec, '['); err != nil {
		return nil, err
	}
	var pairs []rawPair
	for dec.More() {
		start := int(dec.InputOffset())
		start += len(l.data[start:]) - len(bytes.TrimLeft(l.data[start:], " \t\r\n,"))
		var text json.RawMessage
		if err := dec.Decode(&text); err != nil {
			return nil, err
		}
		pairs = append(pairs, rawPair{start, text})
	}
	return pairs, delim(dec, ']')
}

func delim(dec *json.Decoder, want json.Delim) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("%v where %v should be", token, want)
	}
	return nil
}

func syntaxOffset(err error, otherwise int64) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return int(syntax.Offset)
	}
	return int(otherwise)
}

// at makes an error with the line and column of an offset.
func (l *manifestLoader) at(offset int, message, remedy string) error {
	line, column := l.place(offset)
	return &tomlfile.Error{File: ManifestFile, Line: line, Column: column, Message: message, Remedy: remedy}
}

// place counts on from the place before, since pairs are read in order: counting
// from the start for each would cost the square of the manifest.
func (l *manifestLoader) place(offset int) (line, column int) {
	offset = min(max(offset, 0), len(l.data))
	if offset < l.mark.offset {
		l.mark = mark{}
	}
	passed := l.data[l.mark.offset:offset]
	if last := bytes.LastIndexByte(passed, '\n'); last >= 0 {
		l.mark.line += bytes.Count(passed, []byte{'\n'})
		l.mark.column, passed = 0, passed[last+1:]
	}
	l.mark.column += utf8.RuneCount(passed)
	l.mark.offset = offset
	return l.mark.line + 1, l.mark.column + 1
}

// mark is a place in the manifest, counted from 0.
type mark struct{ offset, line, column int }

// maxManifestErrors is where the list of mistakes ends: more of them say that
// the file is something else.
const maxManifestErrors = 100

// fault reports a mistake in the pair being read.
func (l *manifestLoader) fault(message, remedy string) {
	l.errs = append(l.errs, l.at(l.offset, fmt.Sprintf("pair %q: %s", l.pair, message), remedy))
}

func (l *manifestLoader) head(head manifestHead, pairs int) {
	add := func(message, remedy string) { l.errs = append(l.errs, l.at(0, message, remedy)) }
	if head.Schema != string(FromManifest) {
		add(fmt.Sprintf("the manifest has schema %q", head.Schema), fmt.Sprintf("this program reads %q", FromManifest))
	}
	if strings.TrimSpace(head.Set) == "" {
		add("the set has no name", `add "set"`)
	}
	if !strings.HasPrefix(head.LineNumbers, "1-based") && head.LineNumbers != "" {
		add(fmt.Sprintf("line_numbers is %q", head.LineNumbers), "lines are counted from 1 and both ends belong to a span; convert them")
	}
	if pairs == 0 {
		add("the manifest has no pairs", `add "pairs"`)
	}
	if head.Count != nil && *head.Count != pairs {
		add(fmt.Sprintf("the manifest counts %d pairs and lists %d", *head.Count, pairs), "fetch it again; it may be cut short")
	}
	l.corpus.Slice, l.corpus.MemorySafety = head.Set, head.MemorySafety
}

// entry turns one pair into a case.
func (l *manifestLoader) entry(raw rawPair) {
	l.offset, l.pair = raw.offset, ""
	var e pairEntry
	err := json.Unmarshal(raw.text, &e)
	l.pair = e.ID
	if err != nil {
		message := "is not a pair: " + err.Error()
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			l.offset += max(int(wrong.Offset)-1, 0)
			message = fmt.Sprintf("key %q is a %s, wanted %s", wrong.Field, wrong.Value, wrong.Type)
		}
		l.fault(message, "correct the value")
		return
	}
	c := &Case{
		ID: e.ID, Title: e.Title, Slice: l.corpus.Slice, Task: TaskAudit, Language: e.Language, Family: family.ID(e.Family),
		Vetted: Vetted{Level: Title}, Fragment: e.Fragment,
	}
	// Pairs of these kinds were read by whoever put the set together.
	if oneOf(e.Kind, "vfc", "curated", "authored_fix") {
		c.Vetted.Level = Read
	}
	l.labels(&e, c)
	if !l.sides(&e, c) {
		return
	}
	c.Spans, c.Regions = e.ranges()
	c.defect = e.drift(c.Vulnerable)
	c.Residue = e.residue(l.taxonomy)
	line, column := l.place(l.offset)
	l.corpus.places[c] = place{ManifestFile, line, column, path.Join(pairsDir, e.ID)}
	l.corpus.Cases = append(l.corpus.Cases, c)
	l.origins = append(l.origins, origin{repo: repoName(e.Source.Repo), commit: e.Source.FixedCommit})
}

func (l *manifestLoader) labels(e *pairEntry, c *Case) {
	if e.ID == "" || l.ids[e.ID] {
		l.fault("the id is missing or used twice", "give each pair an id of its own")
	}
	l.ids[e.ID] = true
	if !slices.Contains(knownLanguages, e.Language) {
		l.fault(fmt.Sprintf("language %q is unknown", e.Language), "use one of "+strings.Join(knownLanguages, ", "))
	}
	if problem, remedy := familyProblem(l.taxonomy, e.Family, l.corpus.MemorySafety); problem != "" {
		l.fault(problem, remedy)
	}
	for _, id := range e.Accept {
		if problem, remedy := familyProblem(l.taxonomy, id, l.corpus.MemorySafety); problem != "" {
			l.fault("accept_families: "+problem, remedy)
		}
		if !c.Accepts(family.ID(id)) {
			c.Accept = append(c.Accept, family.ID(id))
		}
	}
	if e.CWE == "" {
		return
	}
	cwe, ok := family.ParseCWE(e.CWE)
	owner, listed := l.taxonomy.ByCWE(cwe)
	if !ok || !listed || owner != c.Family {
		l.fault(fmt.Sprintf("cwe %q is not of family %q", e.CWE, e.Family), "correct one of the two")
		return
	}
	c.CWE = cwe
}

// sides reads the files that the manifest lists, and no others.
func (l *manifestLoader) sides(e *pairEntry, c *Case) bool {
	if !fs.ValidPath(e.ID) || strings.Contains(e.ID, "/") || e.ID == "." || !printable(e.ID) {
		l.fault("the id is not the name of a directory", "use letters, digits and hyphens")
		return false
	}
	read := func(name SideName, files []string) *Side {
		if len(files) > maxSideFiles {
			l.fault(fmt.Sprintf("the %s side lists %d files", name, len(files)), fmt.Sprintf("keep at most %d", maxSideFiles))
			return nil
		}
		sorted := slices.Sorted(slices.Values(files))
		if len(slices.Compact(slices.Clone(sorted))) != len(sorted) {
			l.fault(fmt.Sprintf("the %s side lists a file twice", name), "list each file once")
			return nil
		}
		for _, file := range files {
			if !fs.ValidPath(file) || file == "." {
				l.fault(fmt.Sprintf("%q is not a path inside the %s side", file, name), "use a relative path without .. and with /")
				return nil
			}
		}
		side, err := l.reader.files(path.Join(pairsDir, e.ID, string(name)), files)
		if err != nil {
			var bad *fileError
			if errors.As(err, &bad) {
				l.fault(bad.path+" "+bad.message, bad.remedy)
			} else {
				l.fault(err.Error(), "check the file")
			}
		}
		return side
	}
	c.Vulnerable = read(Vulnerable, e.Files.Vulnerable)
	c.Fixed = read(Fixed, e.Files.Fixed)
	return c.IsPair()
}
