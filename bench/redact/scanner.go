package redact

import "bytes"

// scanner says whether a secret begins at the start of in; prev is the byte
// before, and keep is how much of the secret stays.
type scanner interface {
	at(in []byte, prev byte, more bool) (keep, length int, v verdict)
}

// verdict is what a scanner says of the bytes at one position.
type verdict int

const (
	noMatch verdict = iota
	match           // a secret
	open            // could become one with more bytes
)

// scan returns the text without secrets, and the end that has to wait because
// more may come.
func scan(s scanner, in []byte, prev byte, more bool) (out, rest []byte) {
	out = make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		if i > 0 {
			prev = in[i-1]
		}
		keep, length, v := s.at(in[i:], prev, more)
		switch v {
		case open:
			return out, in[i:]
		case match:
			out = append(out, in[i:i+keep]...)
			out = append(out, Mark...)
			i += length
		case noMatch:
			out = append(out, in[i])
			i++
		}
	}
	return out, nil
}

// known finds the forms of known values.
type known struct {
	forms [][]byte // longest first
	first [256]bool
}

func newLiterals(secrets []Secret) *known {
	k := &known{forms: literals(secrets)}
	for _, f := range k.forms {
		k.first[f[0]] = true
	}
	return k
}

func (k *known) at(in []byte, _ byte, more bool) (keep, length int, v verdict) {
	if !k.first[in[0]] {
		return 0, 0, noMatch
	}
	for _, f := range k.forms {
		if bytes.HasPrefix(in, f) {
			return 0, len(f), match
		}
		if more && len(in) < len(f) && bytes.HasPrefix(f, in) {
			return 0, 0, open
		}
	}
	return 0, 0, noMatch
}

// shapes finds what looks like a key at the start of a word.
type shapes struct {
	first [256]bool
}

func newShapes() *shapes {
	s := &shapes{}
	for _, p := range patterns {
		s.first[p.prefix[0]] = true
		if p.fold {
			s.first[p.prefix[0]-'a'+'A'] = true
		}
	}
	return s
}

func (s *shapes) at(in []byte, prev byte, more bool) (keep, length int, v verdict) {
	if !s.first[in[0]] || isLetterOrDigit(prev) {
		return 0, 0, noMatch
	}
	for p := range patterns {
		if keep, length, v = patterns[p].at(in, more); v != noMatch {
			return keep, length, v
		}
	}
	return 0, 0, noMatch
}
