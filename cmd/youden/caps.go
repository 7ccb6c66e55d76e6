package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/youden-bench/youden/bench"
	"github.com/youden-bench/youden/bench/budget"
)

// capFlag is a flag that bounds what a capture may come to.
type capFlag struct {
	name, unit, usage string
	read              func(text string, into *budget.Caps) error
	lift              func(*budget.Caps)
	set               func(budget.Caps) bool
}

func capFlags() []capFlag {
	return []capFlag{
		{
			"max-cost", "USD", "at most so many `USD`, such as 2.50; the model needs a price",
			func(text string, c *budget.Caps) (err error) {
				c.Micros, err = pointed(budget.ParseUSD(text))
				return err
			},
			func(c *budget.Caps) { c.Micros = nil }, func(c budget.Caps) bool { return c.Micros != nil },
		},
		{
			"max-calls", "N", "at most `N` requests, those that end in an error and those that are tried again included",
			func(text string, c *budget.Caps) (err error) { c.Calls, err = pointed(parseCount(text)); return err },
			func(c *budget.Caps) { c.Calls = nil }, func(c budget.Caps) bool { return c.Calls != nil },
		},
		{
			"max-tokens", "N", "at most `N` tokens of prompts and answers together; one answer is bounded by the endpoint's own max_tokens",
			func(text string, c *budget.Caps) (err error) { c.Tokens, err = pointed(parseCount(text)); return err },
			func(c *budget.Caps) { c.Tokens = nil }, func(c budget.Caps) bool { return c.Tokens != nil },
		},
		{
			"max-time", "D", "at most the duration `D`, such as 30m; what is under way then is given up",
			func(text string, c *budget.Caps) (err error) { c.Time, err = pointed(parseTime(text)); return err },
			func(c *budget.Caps) { c.Time = nil }, func(c budget.Caps) bool { return c.Time != nil },
		},
	}
}

func pointed[T any](v T, err error) (*T, error) { return &v, err }

func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no count; write such as 500", text)
	}
	return n, nil
}

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration; write such as 90s or 30m", text)
	}
	return d, nil
}

// noCap is the word that lifts a cap which a weaker source has set.
const noCap = "none"

// capValue is the text of a cap, checked when it is set: "" and none are no cap.
type capValue struct {
	text string
	read func(string, *budget.Caps) error
}

func (v *capValue) String() string { return v.text }

func (v *capValue) Set(text string) error {
	if text != "" && text != noCap {
		if err := v.read(text, &budget.Caps{}); err != nil {
			return err
		}
	}
	v.text = text
	return nil
}

// Type is what the flag is in youden.toml.
func (v *capValue) Type() string { return "string" }

// addCapFlags defines the flags. without says what holds where one is not given.
func addCapFlags(f *pflag.FlagSet, without string) {
	for _, c := range capFlags() {
		f.Var(&capValue{read: c.read}, c.name, c.usage+"; "+without)
	}
	f.Bool("yes", false, "send to an endpoint on another machine without any cap")
	onCommandLineOnly(f, "yes")
}

// limit puts the caps that were given in the place of those that a request has.
func (s *settings) limit(req *bench.Request) error {
	var errs []error
	for _, c := range capFlags() {
		switch text := s.string(c.name); text {
		case "":
		case noCap:
			c.lift(&req.Caps)
		default:
			errs = append(errs, c.read(text, &req.Caps))
		}
	}
	req.Uncapped = req.Uncapped || s.bool("yes")
	return errors.Join(errs...)
}

// raised lists the flags that would let a capture go on which its caps stopped.
func raised(caps budget.Caps) string {
	var flags []string
	for _, c := range capFlags() {
		if c.set(caps) {
			flags = append(flags, "--"+c.name+" "+c.unit)
		}
	}
	return strings.Join(flags, " or ")
}
