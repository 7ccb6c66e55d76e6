package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/youden-bench/youden/measurements"
)

// gateScope says which cases a gate is about, as the file says it.
type gateScope struct {
	slice, family string
	cases         []string
}

func (s gateScope) String() string {
	where := ""
	if s.slice != "" {
		where = " of slice " + s.slice
	}
	switch {
	case len(s.cases) == 1:
		return "case " + s.cases[0] + where
	case len(s.cases) > 1:
		return fmt.Sprintf("%d named cases", len(s.cases)) + where
	case s.family != "":
		return "family " + s.family + where
	case s.slice != "":
		return "slice " + s.slice
	}
	return "all cases"
}

func (s gateScope) equal(o gateScope) bool {
	return s.slice == o.slice && s.family == o.family && slices.Equal(s.cases, o.cases)
}

// gateAddress is where a case stands.
type gateAddress struct{ slice, family, id string }

func addressOf(c *measurements.CaseScore) gateAddress { return gateAddress{c.Slice, c.Family, c.ID} }

// gatePlace is a scope in given data: no name is left open.
type gatePlace struct {
	slice, family string
	cases         map[string]bool // nil = all of slice and family
}

// scopeError says which key of a scope the data do not have.
type scopeError struct{ key, message, remedy string }

func (e *scopeError) Error() string { return e.message + "; " + e.remedy }

// resolve finds the scope among the cases. A family or a case in several slices
// is none until the slice is named.
func (s gateScope) resolve(data []gateAddress) (gatePlace, *scopeError) {
	p := gatePlace{slice: s.slice, family: s.family}
	inSlice := func(a gateAddress) bool { return s.slice == "" || a.slice == s.slice }
	if s.slice != "" && !slices.ContainsFunc(data, inSlice) {
		return p, &scopeError{"slice", fmt.Sprintf("no case is in slice %q", s.slice),
			"the data have " + namesOf(data, func(a gateAddress) string { return a.slice })}
	}
	if s.family != "" {
		where := slicesOf(data, func(a gateAddress) bool { return inSlice(a) && a.family == s.family })
		if err := oneSlice("family", s.family, where, data, func(a gateAddress) string { return a.family }); err != nil {
			return p, err
		}
		p.slice = where[0]
	}
	for _, id := range s.cases {
		where := slicesOf(data, func(a gateAddress) bool { return inSlice(a) && a.id == id })
		if err := oneSlice("case", id, where, data, func(a gateAddress) string { return a.id }); err != nil {
			return p, err
		}
		if p.cases == nil {
			p.cases = map[string]bool{}
		}
		p.cases[where[0]+"\x00"+id] = true
	}
	return p, nil
}

func oneSlice(what, name string, where []string, data []gateAddress, of func(gateAddress) string) *scopeError {
	switch {
	case len(where) == 0:
		return &scopeError{what, fmt.Sprintf("there is no %s %q", what, name), "the data have " + namesOf(data, of)}
	case len(where) > 1:
		return &scopeError{what, fmt.Sprintf("%s %q is in the slices %s", what, name, strings.Join(where, ", ")),
			"say which is meant, with slice = ..."}
	}
	return nil
}

func slicesOf(data []gateAddress, of func(gateAddress) bool) []string {
	var names []string
	for _, a := range data {
		if of(a) && !slices.Contains(names, a.slice) {
			names = append(names, a.slice)
		}
	}
	slices.Sort(names)
	return names
}

// mostNames bounds a list of names in a message.
const mostNames = 20

func namesOf(data []gateAddress, of func(gateAddress) string) string {
	seen := map[string]bool{}
	var names []string
	for _, a := range data {
		if name := of(a); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return listed(names, mostNames)
}

// listed joins names and counts those that are too many.
func listed(names []string, most int) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// holds reports whether a case is in the place.
func (p gatePlace) holds(a gateAddress) bool {
	switch {
	case p.cases != nil:
		return p.cases[a.slice+"\x00"+a.id]
	case p.slice != "" && p.slice != a.slice:
		return false
	}
	return p.family == "" || p.family == a.family
}

// pools reports whether a case informs the intervals of the place: a family is
// measured among the families of its slice, as the rows of a comparison are.
func (p gatePlace) pools(a gateAddress) bool {
	if p.family != "" {
		return a.slice == p.slice
	}
	return p.holds(a)
}
