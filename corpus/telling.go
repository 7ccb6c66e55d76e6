package corpus

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A planted bug must be found in the code, not read off a name: sets such as
// Juliet are near the ceiling because bad(), GOOD and "POTENTIAL FLAW" stand in
// them (scoring-corpora.md 1.1, 1.3).

// telling is a text that gives the answer away, or says too much about it.
type telling struct {
	line int
	text string
}

// tellingStems give away as the start of any word of a name.
var tellingStems = []string{"vuln", "insecur", "exploit", "malicious", "attacker", "backdoor", "unsanit", "unpatched", "nosec", "nosemgrep", "fixme"}

// tellingWords give away as a whole word of a name.
var tellingWords = []string{"safe", "safely", "safer", "unsafe", "unsafely", "sqli", "xss", "ssrf", "xxe", "idor", "redos", "toctou", "pwn", "pwned"}

// tellingPaths give away in the name of a file or directory; in code they are
// ordinary words (toFixed, a bad request, secure cookies).
var tellingPaths = []string{"fixed", "patched", "good", "bad", "secure", "before", "after"}

// legitimate are names of well-known interfaces that happen to contain such a
// word. A case has to be able to call them, on whichever side.
var legitimate = map[string]bool{
	// Go: package unsafe, crypto/tls, gRPC's plain-text credentials.
	"unsafe.Pointer": true, "unsafe.Slice": true, "unsafe.String": true, "unsafe.Sizeof": true, "InsecureSkipVerify": true,
	"InsecureCipherSuites": true, "WithInsecure": true,
	// PyYAML, werkzeug, Django, Jinja, markupsafe, urllib3.
	"safe_load": true, "safe_load_all": true, "safe_dump": true, "safe_dump_all": true, "SafeLoader": true, "CSafeLoader": true,
	"SafeDumper": true, "UnsafeLoader": true, "CUnsafeLoader": true, "unsafe_load": true, "safe_join": true, "safe_str_cmp": true,
	"mark_safe": true, "SafeString": true, "SafeText": true, "SafeData": true, "is_safe_url": true, "InsecureRequestWarning": true,
	"has_safe_repr": true, "SafeConfigParser": true, "SafeRepresenter": true, "SafeConstructor": true,
	// js-yaml, Angular, npm's buffers.
	"safeLoad": true, "safeLoadAll": true, "safeDump": true, "SafeHtml": true, "SafeUrl": true, "SafeResourceUrl": true,
	"SafeValue": true, "SafeScript": true, "safe-buffer": true, "safer-buffer": true, "isSafeInteger": true, "allowUnsafe": true,
	// Comparisons and serializers that are called so.
	"timingSafeEqual": true, "timing_safe_compare": true, "URLSafeSerializer": true, "URLSafeTimedSerializer": true,
	// Content-Security-Policy and Referrer-Policy.
	"unsafe-inline": true, "unsafe-eval": true, "unsafe-hashes": true, "unsafe-url": true, "wasm-unsafe-eval": true,
	// Headers, and words of concurrency and typing.
	"X-XSS-Protection": true, "x-xss-protection": true, "thread-safe": true, "goroutine-safe": true, "type-safe": true,
	"null-safe": true, "nil-safe": true, "url-safe": true, "fail-safe": true, "async-signal-safe": true, "signal-safe": true,
}

// legitimateLines are uses that only their surroundings tell apart: Go's import
// of unsafe and of gRPC's credentials, urllib's quote(safe=...), Jinja's filter,
// Number.MAX_SAFE_INTEGER.
var legitimateLines = regexp.MustCompile(`"unsafe"|\bunsafe\.[A-Z]|credentials/insecure|\binsecure\.NewCredentials|\bsafe\s*=\s*['"f]|\|\s*safe\b|_SAFE_INTEGER`)

// tellingPhrases are read with case and runs of blanks ignored.
var tellingPhrases = regexp.MustCompile(`(?i)\bcwe[-_ ]?\d+|\bcve-\d{4}-\d+|\bghsa-[0-9a-z]{4}-|` +
	`\b(sanitiz|sanitis|validat|escap|check|authoriz|fix)(e|ed|es)?\s+here\b|` +
	`\b(missing|no|without|lacks|forgot|skips?)\s+(the\s+)?(sanitiz|sanitis|validation|escaping|authoriz|authentication\s+check|auth\s+check|ownership\s+check|permission\s+check)|` +
	`\b(sql|nosql|command|code|ldap|template|header|log)\s+injection\b|\b(path|directory)\s+traversal\b|\bcross[- ]site\s+scripting\b|` +
	`\bprototype\s+pollution\b|\bopen\s+redirect\b|\brace\s+condition\b|\bprivilege\s+escalation\b|\brequest\s+forgery\b|` +
	`\bsecurity\s+(bug|hole|flaw|issue|problem|fix)\b|\bpotential\s+flaw\b|\buser[- ]controlled\b|\bthis\s+is\s+(the\s+)?(bug|fix)\b`)

// phraseWords are such that every phrase above, and bareCall, holds one of them:
// most lines hold none and need no slow look.
var phraseWords = []string{"cwe", "cve", "ghsa", "here", "sanitis", "sanitiz", "validation", "escaping", "authori", "check", "injection",
	"traversal", "scripting", "pollution", "redirect", "race", "escalation", "forgery", "security", "flaw", "controlled", "this", "good", "bad"}

// juliet are the names by which test suites tell their two sides apart.
var juliet = regexp.MustCompile(`^(GOOD|BAD)$|^(good|bad)(G2B|B2G|\d|Sink|Source|Handler|Case|Example|Version|Code|Func|Function|Query|Impl|_sink|_source|_handler|_case|_example|_version|_code|_func|_query|_impl)`)

// bareCall is a function called good or bad.
var bareCall = regexp.MustCompile(`\b(good|bad)\s*\(`)

var namePattern = regexp.MustCompile(`[\pL\pN_$]+(?:[-.][\pL\pN_$]+)*`)

// tellingIn lists what gives the answer away in the name and the text of a file,
// each text once a line.
func tellingIn(f File) []telling {
	var found []telling
	for _, name := range namePattern.FindAllString(strings.TrimSuffix(f.Path, path.Ext(f.Path)), -1) {
		if tells(name) || slices.ContainsFunc(wordsOf(name), func(w string) bool { return slices.Contains(tellingPaths, w) }) {
			found = append(found, telling{0, name})
		}
	}
	for i, line := range strings.Split(string(f.Text), "\n") {
		for _, text := range tellingLine(line) {
			found = append(found, telling{i + 1, text})
		}
	}
	return found
}

func tellingLine(line string) []string {
	var texts []string
	lower := strings.ToLower(line)
	if slices.ContainsFunc(phraseWords, func(word string) bool { return strings.Contains(lower, word) }) {
		texts = append(tellingPhrases.FindAllString(line, -1), bareCall.FindAllString(line, -1)...)
	}
	var names []string
	for _, name := range namePattern.FindAllString(line, -1) {
		if tells(name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 && !legitimateLines.MatchString(line) {
		texts = append(texts, names...)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// tells reports whether a name, with its dots and hyphens, gives the answer
// away.
func tells(name string) bool {
	for _, part := range strings.Split(name, ".") {
		if legitimate[name] || legitimate[part] {
			continue
		}
		if juliet.MatchString(part) {
			return true
		}
		for _, word := range wordsOf(part) {
			if slices.Contains(tellingWords, word) || slices.ContainsFunc(tellingStems, func(stem string) bool { return strings.HasPrefix(word, stem) }) {
				return true
			}
		}
	}
	return false
}

// wordsOf splits a name at hyphens, underscores, digits and changes of case.
func wordsOf(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && len(word) > 0 {
			afterLower := !unicode.IsUpper(word[len(word)-1])
			startsWord := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || startsWord {
				flush()
			}
		}
		word = append(word, r)
	}
	flush()
	return words
}
