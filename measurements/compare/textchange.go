package compare

import "github.com/youden-bench/youden/measurements"

// How a text of a detector differs between OLD and NEW.
const (
	TextChanged = "changed"
	TextAdded   = "added"
	TextRemoved = "removed"
)

// TextChange is a text of a detector that differs between OLD and NEW.
type TextChange struct {
	Name   string `json:"name"`
	Change string `json:"change"` // changed, added or removed
}

// TextChanges lists the texts that differ, those of NEW first, each in the order
// of its detector. It is nil when the two differ in a way that is not known: one
// of them does not record its texts, or none of those recorded has changed.
func TextChanges(before, after measurements.DetectorRecord) []TextChange {
	list := []TextChange{}
	if before.Hash == after.Hash && before.Name == after.Name {
		return list
	}
	if len(before.Texts) == 0 || len(after.Texts) == 0 {
		return nil
	}
	olds, news := textHashes(before.Texts), textHashes(after.Texts)
	for _, t := range after.Texts {
		switch old, had := olds[t.Name]; {
		case !had:
			list = append(list, TextChange{t.Name, TextAdded})
		case old != t.SHA256:
			list = append(list, TextChange{t.Name, TextChanged})
		}
	}
	for _, t := range before.Texts {
		if _, has := news[t.Name]; !has {
			list = append(list, TextChange{t.Name, TextRemoved})
		}
	}
	if len(list) == 0 && before.Hash != after.Hash {
		return nil
	}
	return list
}

func textHashes(texts []measurements.TextRecord) map[string]string {
	m := make(map[string]string, len(texts))
	for _, t := range texts {
		m[t.Name] = t.SHA256
	}
	return m
}
