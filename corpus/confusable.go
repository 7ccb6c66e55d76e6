package corpus

import (
	"strings"
	"unicode"
)

// Letters of other scripts that look like Latin ones, from the confusables of
// Unicode Technical Standard 39. Only those that read as the letter in running
// text are listed.
const (
	lookAlike = "аеорсхуіјѕԁһӏкмтнѵԝ" + "АВСЕНІЈКМОРЅТХУ" + "αονρικτυχε" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "օոɡı"
	latin     = "aeopcxyijsdhlkmthvw" + "ABCEHIJKMOPSTXY" + "aovpiktuxe" + "ABEZHIKMNOPTYX" + "ongi"
)

var latinOf = func() map[rune]rune {
	table := map[rune]rune{}
	letters := []rune(latin)
	for i, r := range []rune(lookAlike) {
		table[r] = letters[i]
	}
	return table
}()

// plainLetters writes a text as it looks: look-alikes, full-width and
// mathematical letters become Latin ones, and what cannot be seen goes.
func plainLetters(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case latinOf[r] != 0:
			return latinOf[r]
		case r >= '！' && r <= '～': // the printable ASCII in full width
			return r - '！' + '!'
		case r >= 0x1D400 && r < 0x1D6A4: // thirteen alphabets, A to Z and a to z
			n := (r - 0x1D400) % 52
			return n%26 + 'A' + n/26*('a'-'A')
		case unicode.In(r, unicode.Cf, unicode.Mn):
			return -1
		}
		return r
	}, text)
}
