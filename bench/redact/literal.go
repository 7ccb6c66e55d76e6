package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// minLiteral is the length below which a known value is not looked for: local
// servers are run with keys such as "x" or "none", and taking every x out of a
// text hides no secret.
const minLiteral = 8

// literals returns the forms in which the values of secrets may appear in a
// text: as they are, and as URL, JSON, Go, hexadecimal and base64 escape them.
// Longer forms come first, so that the longest match at a position wins.
func literals(secrets []Secret) [][]byte {
	var forms []string
	for _, s := range secrets {
		if v := s.Reveal(); len(v) >= minLiteral {
			forms = append(forms, formsOf(v)...)
		}
	}
	slices.SortFunc(forms, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	out := make([][]byte, len(forms))
	for i, f := range forms {
		out[i] = []byte(f)
	}
	return out
}

func formsOf(v string) []string {
	forms := []string{
		v, url.QueryEscape(v), url.PathEscape(v),
		strings.ToLower(url.QueryEscape(v)), strings.ToLower(url.PathEscape(v)),
		hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))),
		strings.Trim(strconv.Quote(v), `"`),
	}
	if quoted, err := json.Marshal(v); err == nil { // a string always marshals
		plain := string(quoted[1 : len(quoted)-1])
		// Once more for JSON inside JSON, as in the arguments of a tool call,
		// and with the optional escape of the slash.
		twice, _ := json.Marshal(plain)
		forms = append(forms, plain, string(twice[1:len(twice)-1]), strings.ReplaceAll(plain, "/", `\/`))
	}
	return append(forms, base64Forms(v)...)
}

// base64Forms returns what of v's base64 text does not depend on the bytes
// around it, for each of the three ways in which v can lie in the groups of
// three: that finds it inside a longer encoded text ("user:key") too.
func base64Forms(v string) []string {
	var forms []string
	for lead, first := range []int{0, 2, 3} { // characters that share bits with the bytes before
		padded := append(make([]byte, lead), v...)
		whole := len(padded) - len(padded)%3 // what follows shares the last group
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for _, text := range []string{enc.EncodeToString(padded[:whole]), enc.EncodeToString(padded)} {
				if len(text)-first >= minLiteral {
					forms = append(forms, text[first:])
				}
			}
		}
	}
	return forms
}
