package main

import (
	"io"
	"strings"

	"github.com/youden-bench/youden/measurements/report"
)

// inert is a writer for messages: nothing that an endpoint, a corpus or a path
// put into them can move the cursor, recolour the terminal or reverse a line.
// The progress bar, whose text is ours, does not pass through it.
type inert struct{ w io.Writer }

func (i inert) Write(p []byte) (int, error) {
	lines := strings.SplitAfter(string(p), "\n")
	var b strings.Builder
	for _, line := range lines {
		text, ended := strings.CutSuffix(line, "\n")
		for n, part := range strings.Split(text, "\t") {
			if n > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(report.Plain(part))
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	if _, err := io.WriteString(i.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// checked remembers the first error of a writer, so that a command whose output
// was lost does not end as if it had been read.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}
