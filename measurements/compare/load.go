package compare

import (
	"fmt"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/kstrl"
)

// Load reads a subject: the directory of a capture, a baseline file, or a kstrl
// file of version 1 or 2. Policy and view choose among the scores of a capture;
// "" takes those of its plan. A baseline has one of each, and may be called by its
// name alone.
func Load(name string, p measurements.Policy, v measurements.View) (*Subject, error) {
	name, info, err := locate(name)
	if err != nil {
		return nil, fmt.Errorf("reading what to compare: %w; name a capture, a baseline or a kstrl file", err)
	}
	if info.IsDir() {
		return loadCapture(name, p, v)
	}
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	if isKSTRL(data) {
		b, err := kstrl.Parse(name, data, kstrl.Strict)
		if err != nil {
			return nil, err
		}
		return fromKSTRL(b), nil
	}
	s, err := readBaseline(name, data)
	if err != nil {
		return nil, err
	}
	if p != "" && p != s.Policy || v != "" && v != s.View {
		return nil, &OtherScoringError{&LoadError{name, 0, fmt.Sprintf("was scored under policy %s and view %s", s.Policy, s.View),
			"compare under these, or make it anew from its capture"}}
	}
	return s, nil
}

// OtherScoringError is a baseline of one policy and view that another was asked of:
// the file is sound, and what is asked is incomparable with it.
type OtherScoringError struct{ Cause *LoadError }

func (e *OtherScoringError) Error() string {
	return fmt.Sprintf("%s: %v", Incomparable, e.Cause)
}

func (e *OtherScoringError) Unwrap() error { return e.Cause }

// Memory is a limit for the garbage collector (runtime/debug.SetMemoryLimit), in
// bytes. Two captures of a million runs each compare within it as fast as without
// one; left alone the collector lets half as much again pile up. The limit is soft:
// what is larger takes more, and more time.
const Memory = 400 << 20

// LoadBoth reads OLD and NEW at the same time: reading is most of the work of a
// large comparison, and one of them keeps one core busy.
func LoadBoth(before, after string, p measurements.Policy, v measurements.View) (*Subject, *Subject, error) {
	type loaded struct {
		subject *Subject
		err     error
		fault   any
	}
	done := make(chan loaded, 1)
	go func() {
		var l loaded
		defer func() {
			l.fault = recover() // nobody above this goroutine would catch it
			done <- l
		}()
		l.subject, l.err = Load(before, p, v)
	}()
	updated, err := Load(after, p, v)
	old := <-done
	switch {
	case old.fault != nil:
		panic(old.fault)
	case old.err != nil:
		return nil, nil, old.err
	case err != nil:
		return nil, nil, err
	}
	return old.subject, updated, nil
}
