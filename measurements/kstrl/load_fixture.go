package kstrl

import "fmt"

// identity is what tells one fixture from another.
type identity struct{ role, id string }

func (l *loader) fixtures(top *value, b *Baseline) error {
	all := top.get("fixtures")
	switch {
	case all == nil:
		return l.fault(0, "there is no list of fixtures", another)
	case all.kind != list:
		return l.fault(all.line, fmt.Sprintf("fixtures is %s, not a list", all.kind), another)
	}
	seen := make(map[identity]bool, len(all.items))
	b.Fixtures = make([]Fixture, 0, len(all.items))
	for i, entry := range all.items {
		f, err := l.fixture(entry, fmt.Sprintf("fixtures[%d]", i), b.FormatVersion)
		if err != nil {
			return err
		}
		if seen[identity{f.Role, f.ID}] {
			problem := fmt.Sprintf("fixture %q of role %q stands there twice: both count in the rates, only the last as newly missed", f.ID, f.Role)
			if err := l.odd(entry.line, problem, "remove one of the two"); err != nil {
				return err
			}
		}
		seen[identity{f.Role, f.ID}] = true
		b.Fixtures = append(b.Fixtures, f)
	}
	return nil
}

func (l *loader) fixture(entry *value, where string, version int64) (Fixture, error) {
	var f Fixture
	if entry.kind != object {
		return f, l.fault(entry.line, fmt.Sprintf("%s is %s, not an object", where, entry.kind), recapture)
	}
	var err error
	if f.Role, f.ID, err = l.identity(entry, where, nil); err != nil {
		return f, err
	}
	where = fmt.Sprintf("%s (%s/%s)", where, clip(f.Role), clip(f.ID))
	if version < 2 {
		f.RunsTotal = 1
		if f.RunsDetected, err = l.caught(entry, where); err != nil {
			return f, err
		}
		return f, nil
	}
	if f.Category, err = l.known(entry.get("category"), where+" category"); err != nil {
		return f, err
	}
	if f.CWE, err = l.known(entry.get("cwe"), where+" cwe"); err != nil {
		return f, err
	}
	return f, l.counts(entry, where, "runs_detected", &f.RunsTotal, &f.RunsErrored, &f.RunsDetected)
}

// identity reads the two names of a fixture; the role may be known already.
func (l *loader) identity(entry *value, where string, known *string) (role, id string, err error) {
	if known != nil {
		role = *known
	} else if role, err = l.name(entry.get("role"), "", where+" role"); err != nil {
		return "", "", err
	}
	if id, err = l.name(entry.get("fixture_id"), "", where+" fixture_id"); err != nil {
		return "", "", err
	}
	if role == "" || id == "" {
		return "", "", l.fault(entry.line, where+" has no role or no fixture_id", recapture)
	}
	return role, id, nil
}

// caught is the one run of a version 1 fixture, read as a truth of Python.
func (l *loader) caught(entry *value, where string) (int64, error) {
	v := entry.get("caught")
	var n int64
	if v != nil && v.truth {
		n = 1
	}
	switch {
	case v == nil:
		return n, l.odd(entry.line, where+" has no caught, read as false", recapture)
	case v.kind != boolean:
		return n, l.odd(v.line, fmt.Sprintf("%s caught is %s, read as %t", where, v.kind, v.truth), recapture)
	}
	return n, nil
}

// counts reads the three counts of a fixture, of which the last differs by name.
func (l *loader) counts(entry *value, where, lastName string, total, errored, last *int64) error {
	for _, c := range []struct {
		name string
		into *int64
	}{{"runs_total", total}, {"runs_errored", errored}, {lastName, last}} {
		v := entry.get(c.name)
		if v == nil {
			if err := l.odd(entry.line, where+" has no "+c.name+", read as 0", recapture); err != nil {
				return err
			}
		}
		var err error
		if *c.into, err = l.whole(v, 0, where+" "+c.name); err != nil {
			return err
		}
	}
	if l.mode == Strict && *total > maxRuns {
		return l.fault(entry.line, fmt.Sprintf("%s has runs_total %d: at most %d are read", where, *total, maxRuns), recapture)
	}
	if *total >= 0 && *errored >= 0 && *last >= 0 && *last <= *total-*errored {
		return nil
	}
	problem := fmt.Sprintf("%s has runs_total %d, runs_errored %d and %s %d, which cannot be together",
		where, *total, *errored, lastName, *last)
	return l.odd(entry.line, problem, recapture)
}

// negatives reads the false positives, of which the reference's rules know
// nothing. A role without a list of fixtures has none.
func (l *loader) negatives(top *value, b *Baseline) error {
	block := top.get("false_positive_analysis")
	if block == nil || block.kind == null {
		return nil
	}
	roles := block.get("roles")
	if block.kind != object || roles == nil || roles.kind != object {
		return l.fault(block.line, "false_positive_analysis has no object of roles", recapture)
	}
	seen := make(map[identity]bool)
	for _, m := range roles.members {
		all := m.value.get("fixtures")
		if all == nil {
			continue
		}
		if all.kind != list {
			return l.fault(all.line, fmt.Sprintf("the fixtures of role %q are %s, not a list", clip(m.key), all.kind), recapture)
		}
		for i, entry := range all.items {
			n, err := l.negative(entry, m.key, i)
			if err != nil {
				return err
			}
			if seen[identity{n.Role, n.ID}] {
				return l.fault(entry.line, fmt.Sprintf("fixture %q of role %q stands there twice", n.ID, n.Role), "remove one of the two")
			}
			seen[identity{n.Role, n.ID}] = true
			b.Negatives = append(b.Negatives, n)
		}
	}
	return nil
}

func (l *loader) negative(entry *value, role string, i int) (Negative, error) {
	var n Negative
	where := fmt.Sprintf("false_positive_analysis of %q, fixtures[%d]", clip(role), i)
	if entry.kind != object {
		return n, l.fault(entry.line, fmt.Sprintf("%s is %s, not an object", where, entry.kind), recapture)
	}
	var err error
	if n.Role, n.ID, err = l.identity(entry, where, &role); err != nil {
		return n, err
	}
	return n, l.counts(entry, where, "runs_flagged", &n.RunsTotal, &n.RunsErrored, &n.RunsFlagged)
}
