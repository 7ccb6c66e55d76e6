package doctor

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/report"
)

// Write prints a record for people.
func Write(w io.Writer, c *measurements.Capabilities) error {
	var b strings.Builder
	simulated := ""
	if c.Simulated {
		simulated = " (SIMULATED: it says nothing about a real model)"
	}
	fmt.Fprintf(&b, "model %s at %s%s\n", report.Plain(c.Endpoint.Model), report.Plain(c.Endpoint.BaseURL), simulated)
	fmt.Fprintf(&b, "answers as %s, fingerprint %s; context: %s\n\n", said(c.ModelReturned), said(c.Fingerprint), count(c.ContextTokens, "tokens"))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "field\ttreatment\twhat was seen")
	for _, f := range c.Features {
		fmt.Fprintf(table, "%s\t%s\t%s\n", report.Plain(f.Name), f.Treatment, report.Plain(f.Detail))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print a capability record: %w", err)
	}
	for _, line := range c.Advice {
		fmt.Fprintf(&b, "\nadvice: %s", report.Plain(line))
	}
	cost := "cost unknown"
	if c.CostUSDMicros != nil {
		cost = fmt.Sprintf("$%.4f", float64(*c.CostUSDMicros)/1e6)
	}
	fmt.Fprintf(&b, "\ntook %d calls, %d without an answer; %s, %s, %s\n", c.Calls, c.Failed,
		count(c.PromptTokens, "prompt tokens"), count(c.CompletionTokens, "completion tokens"), cost)
	_, err := io.WriteString(w, b.String())
	return err
}

func said(text string) string {
	if text == "" {
		return "nothing"
	}
	return report.Plain(text)
}

func count(n *int64, unit string) string {
	if n == nil {
		return "unknown " + unit
	}
	return fmt.Sprintf("%d %s", *n, unit)
}
