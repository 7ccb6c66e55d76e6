package compare

import (
	"fmt"
	"os"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/kstrl"
)

// Load reads a subject: the directory of a capture, a baseline file, or a kstrl
// file of version 1 or 2. Policy and view choose among the scores of a capture;
// "" takes those of its plan. A baseline has one of each.
func Load(name string, p measurements.Policy, v measurements.View) (*Subject, error) {
	info, err := os.Stat(name)
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
		return nil, &LoadError{name, 0, fmt.Sprintf("was scored under policy %s and view %s", s.Policy, s.View),
			"compare under these, or make it anew from its capture"}
	}
	return s, nil
}
