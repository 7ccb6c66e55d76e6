package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/corpus/tomlfile"
)

// configFile is the shape of youden.toml.
type configFile struct {
	Defaults map[string]any                  `toml:"defaults"`
	Endpoint map[string]bench.EndpointConfig `toml:"endpoint"`
}

// settings are the effective values of a command: a flag wins over an
// environment variable, which wins over youden.toml, which wins over the default.
type settings struct {
	flags     *pflag.FlagSet
	origin    map[string]string // flag -> where its value came from
	endpoints map[string]bench.EndpointConfig
	file      string // the configuration that was read; "" = none
}

// envName is the environment variable of a flag: --max-cost is YOUDEN_MAX_COST.
func envName(flag string) string {
	return "YOUDEN_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// tomlKey is the key of a flag below [defaults]: --max-cost is max_cost.
func tomlKey(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// loadSettings fills the flags of cmd that were not given on the command line.
func loadSettings(cmd *cobra.Command) (*settings, error) {
	s := &settings{flags: cmd.Flags(), origin: map[string]string{}}
	if err := s.fromEnvironment(); err != nil {
		return nil, err
	}
	if err := s.fromFile(cmd.Root()); err != nil {
		return nil, err
	}
	s.flags.VisitAll(func(f *pflag.Flag) {
		if s.origin[f.Name] == "" {
			s.origin[f.Name] = "default"
		}
	})
	return s, nil
}

func (s *settings) fromEnvironment() error {
	var errs []error
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			s.origin[f.Name] = "flag"
			return
		}
		value := os.Getenv(envName(f.Name)) // empty is as good as unset
		if value == "" || f.Name == "help" {
			return
		}
		if commandLineOnly(f) {
			errs = append(errs, fmt.Errorf("environment variable %s: --%s can only be said on the command line; unset the variable", envName(f.Name), f.Name))
			return
		}
		if err := s.flags.Set(f.Name, value); err != nil {
			errs = append(errs, fmt.Errorf("environment variable %s=%q: %w", envName(f.Name), value, err))
			return
		}
		s.origin[f.Name] = "environment " + envName(f.Name)
	})
	return errors.Join(errs...)
}

// fromFile reads youden.toml. A missing file is an error only if it was asked
// for.
func (s *settings) fromFile(root *cobra.Command) error {
	name := s.flags.Lookup("config").Value.String()
	data, err := readConfig(name)
	if errors.Is(err, fs.ErrNotExist) && s.origin["config"] == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read configuration: %w; `youden init` writes a starter", err)
	}
	s.file = name
	var file configFile
	pos, err := tomlfile.Decode(name, data, &file)
	if err != nil {
		return err
	}
	for endpoint, cfg := range file.Endpoint {
		if err := cfg.Validate(); err != nil {
			line, col := pos.At("endpoint", endpoint)
			return &tomlfile.Error{File: name, Line: line, Column: col, Message: "[endpoint." + endpoint + "]: " + err.Error()}
		}
	}
	s.endpoints = file.Endpoint
	keys := make([]string, 0, len(file.Defaults))
	for key := range file.Defaults {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	known := flagKeys(root)
	var errs []error
	for _, key := range keys {
		line, col := pos.At("defaults", key)
		bad := func(message, remedy string) {
			errs = append(errs, &tomlfile.Error{File: name, Line: line, Column: col, Message: message, Remedy: remedy})
		}
		if !known[key] {
			bad(fmt.Sprintf("unknown key %q in [defaults]", key), "each key is a flag with _ for -, such as runs or max_error_rate")
			continue
		}
		flag := s.flags.Lookup(strings.ReplaceAll(key, "_", "-"))
		if flag != nil && commandLineOnly(flag) {
			bad(fmt.Sprintf("--%s can only be said on the command line", flag.Name), "remove the key")
			continue
		}
		if flag == nil || s.origin[flag.Name] != "" {
			continue
		}
		value, ok := flagText(file.Defaults[key])
		if !ok {
			bad(fmt.Sprintf("key %q must be a string, a number, a boolean or a list of strings", key), "see `youden capture --help` for what the flag takes")
			continue
		}
		if err := s.flags.Set(flag.Name, value); err != nil {
			bad(fmt.Sprintf("key %q: %v", key, err), "see `youden capture --help` for what the flag takes")
			continue
		}
		s.origin[flag.Name] = fmt.Sprintf("%s:%d", name, line)
	}
	return errors.Join(errs...)
}

// maxConfig bounds youden.toml.
const maxConfig = 1 << 20

// readConfig reads a regular file: a pipe or a device would block or never end.
func readConfig(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", name, maxConfig)
	}
	return os.ReadFile(name)
}

// onCommandLineOnly marks a flag that a file in the current folder, or a variable
// that stays set, must not be able to give.
func onCommandLineOnly(f *pflag.FlagSet, name string) {
	if err := f.SetAnnotation(name, commandLineMark, nil); err != nil {
		panic(err) // a flag that was not defined
	}
}

const commandLineMark = "command-line-only"

func commandLineOnly(f *pflag.Flag) bool {
	_, marked := f.Annotations[commandLineMark]
	return marked
}

// flagText renders a TOML value the way its flag would be written.
func flagText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case int64, bool:
		return fmt.Sprint(v), true
	case []any:
		words := make([]string, len(v))
		for i, item := range v {
			word, ok := item.(string)
			if !ok {
				return "", false
			}
			words[i] = word
		}
		return strings.Join(words, ","), true
	}
	return "", false
}

// flagKeys lists the keys that [defaults] may hold: the flags of all commands.
func flagKeys(root *cobra.Command) map[string]bool {
	keys := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "config" && f.Name != "help" && f.Name != "version" {
				keys[tomlKey(f.Name)] = true
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return keys
}

// print writes the effective values as TOML, each with where it came from.
func (s *settings) print(a *app) {
	fmt.Fprintln(a.out, "[defaults]")
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == "config" || f.Name == "print-config" {
			return
		}
		fmt.Fprintf(a.out, "%-42s # %s\n", tomlKey(f.Name)+" = "+tomlValue(f), s.origin[f.Name])
	})
	names := make([]string, 0, len(s.endpoints))
	for name := range s.endpoints {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(a.out, "\n[endpoint.%s] # %s\n%s", name, s.file, endpointTOML(name, s.endpoints[name]))
	}
}

// endpointTOML renders an endpoint, which holds the name of its key's variable
// and no key. Its tables stand below it.
func endpointTOML(name string, c bench.EndpointConfig) string {
	text, err := toml.Marshal(c.Shown())
	if err != nil {
		return fmt.Sprintf("# cannot be shown: %v\n", err)
	}
	return tableHead.ReplaceAllStringFunc(string(text), func(head string) string { return head + "endpoint." + name + "." })
}

// tableHead begins a table, or one of an array of tables.
var tableHead = regexp.MustCompile(`(?m)^\[+`)

func tomlValue(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "uint64", "float64", "bool":
		return f.Value.String()
	case "stringSlice":
		list, ok := f.Value.(pflag.SliceValue)
		if !ok {
			break
		}
		words := list.GetSlice()
		for i, w := range words {
			words[i] = fmt.Sprintf("%q", w)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	return fmt.Sprintf("%q", f.Value.String())
}

// The getters read a flag that the command has defined; another name is a defect.

func (s *settings) string(name string) string { return s.flags.Lookup(name).Value.String() }

func (s *settings) bool(name string) bool {
	v, err := s.flags.GetBool(name)
	return must(v, err)
}

func (s *settings) int(name string) int {
	v, err := s.flags.GetInt(name)
	return must(v, err)
}

func (s *settings) seed() uint64 {
	v, err := s.flags.GetUint64("seed")
	return must(v, err)
}

func (s *settings) float(name string) float64 {
	v, err := s.flags.GetFloat64(name)
	return must(v, err)
}

func (s *settings) duration(name string) time.Duration {
	v, err := s.flags.GetDuration(name)
	return must(v, err)
}

func (s *settings) list(name string) []string {
	v, err := s.flags.GetStringSlice(name)
	return must(v, err)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
