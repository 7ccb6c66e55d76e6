package measurements

import "strings"

// cleaner makes text valid UTF-8 and remembers whether it had to: one bad byte
// in a string column makes DuckDB refuse the whole query.
type cleaner struct{ repaired bool }

func (c *cleaner) text(s string) string {
	valid := strings.ToValidUTF8(s, "\uFFFD")
	if valid != s {
		c.repaired = true
	}
	return valid
}

func (c *cleaner) optional(s string) *string {
	if s == "" {
		return nil
	}
	return pointer(c.text(s))
}

func (c *cleaner) latest(old *string, s string) *string {
	if s == "" {
		return old
	}
	return pointer(c.text(s))
}
