package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/youden-bench/youden/bench/budget"
	"github.com/youden-bench/youden/corpus"
	"github.com/youden-bench/youden/corpus/family"
	"github.com/youden-bench/youden/measurements"
)

// Request is what a capture was asked for. It is recorded in capture.json, so
// that the capture can be resumed, and holds no secret.
type Request struct {
	Corpus       string              `json:"corpus,omitempty"` // a directory; "" = the embedded cases
	Detector     string              `json:"detector"`         // an embedded name or a directory
	EndpointName string              `json:"endpoint_name,omitempty"`
	Endpoint     EndpointConfig      `json:"endpoint"`
	Runs         int                 `json:"runs"`
	Seed         uint64              `json:"seed"`
	Split        string              `json:"split"` // train, holdout or all
	Families     []string            `json:"families,omitempty"`
	Slices       []string            `json:"slices,omitempty"`
	Cases        []string            `json:"cases,omitempty"`
	Limit        int                 `json:"limit,omitempty"`
	Policy       measurements.Policy `json:"policy"`
	View         measurements.View   `json:"view"`
	Concurrency  int                 `json:"concurrency"`
	MaxErrorRate float64             `json:"max_error_rate"`
	// Indeterminate says what becomes of calls whose fate a crash left open:
	// "retry" may pay them twice, "stop" leaves their runs without an answer, ""
	// retries on simulated endpoints only.
	Indeterminate string `json:"indeterminate,omitempty"`
	// Against is a baseline or a capture that the capture is compared with while it
	// grows; "" = none, and K is fixed.
	Against string `json:"against,omitempty"`
	// Gates is a file of thresholds that the capture is held against at its end; "" =
	// none. GatesHash is that of its content, "" until it was read.
	Gates     string `json:"gates,omitempty"`
	GatesHash string `json:"gates_sha256,omitempty"`
	// Caps bound what the capture may come to, over all processes that work on it.
	Caps budget.Caps `json:"caps,omitzero"`
	// Uncapped says that the operator agreed to a capture without caps at an
	// endpoint elsewhere, which may send a bill.
	Uncapped bool `json:"uncapped,omitempty"`
	// Capabilities is the file of a capability record to embed, "" being where `youden
	// doctor` leaves it; nil embeds none. A capture that is resumed keeps its own.
	Capabilities *string `json:"-"`
}

func (r Request) check() error {
	var errs []error
	if r.Runs < 1 || r.Runs > 1000 {
		errs = append(errs, fmt.Errorf("--runs %d: K must lie between 1 and 1000", r.Runs))
	}
	if r.Concurrency < 1 || r.Concurrency > 10000 {
		errs = append(errs, fmt.Errorf("--concurrency %d: it must lie between 1 and 10000", r.Concurrency))
	}
	if r.Limit < 0 {
		errs = append(errs, fmt.Errorf("--limit %d is negative; 0 means no limit", r.Limit))
	}
	if !(r.MaxErrorRate >= 0 && r.MaxErrorRate <= 1) {
		errs = append(errs, fmt.Errorf("--max-error-rate %v: it must lie between 0 and 1", r.MaxErrorRate))
	}
	if !slices.Contains([]string{"train", "holdout", "all"}, r.Split) {
		errs = append(errs, fmt.Errorf("--split %q is unknown; use train, holdout or all", r.Split))
	}
	if !slices.Contains([]string{"", "retry", "stop"}, r.Indeterminate) {
		errs = append(errs, fmt.Errorf("--indeterminate %q is unknown; use retry or stop", r.Indeterminate))
	}
	if err := r.Caps.Check(); err != nil {
		errs = append(errs, err)
	}
	for _, f := range r.Families {
		if _, ok := family.Default().Family(family.ID(f)); !ok {
			errs = append(errs, fmt.Errorf("--family %q is not in the taxonomy", f))
		}
	}
	return errors.Join(errs...)
}

// Filter keeps the cases that were asked for. A name that matches nothing is an
// error: a misspelt case must not become an empty capture.
func (r Request) Filter(cases []*corpus.Case) ([]*corpus.Case, error) {
	return chosen(r, cases, func(c *corpus.Case) (id, slice, family string) { return c.ID, c.Slice, string(c.Family) })
}

// chosen filters cases, or what is known of them.
func chosen[C any](r Request, cases []C, of func(C) (id, slice, family string)) ([]C, error) {
	matched := map[string]bool{}
	has := func(list []string, flag, value string) bool {
		if len(list) == 0 {
			return true
		}
		found := slices.Contains(list, value)
		if found {
			matched[flag+value] = true
		}
		return found
	}
	var out []C
	for _, c := range cases {
		id, slice, name := of(c)
		inCase := has(r.Cases, "--case ", id)
		inSlice := has(r.Slices, "--slice ", slice)
		inFamily := has(r.Families, "--family ", name)
		if inCase && inSlice && inFamily && (r.Limit == 0 || len(out) < r.Limit) {
			out = append(out, c)
		}
	}
	var missing []string
	for flag, list := range map[string][]string{"--case ": r.Cases, "--slice ": r.Slices, "--family ": r.Families} {
		for _, value := range list {
			if !matched[flag+value] {
				missing = append(missing, flag+value)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		among := ""
		if r.Split != "" {
			among = " of split " + r.Split
		}
		return nil, fmt.Errorf("no case%s matches %s; `youden show --by case` lists the cases of a capture, the catalog all", among, strings.Join(missing, ", "))
	}
	return out, nil
}

func (r Request) filters() map[string]string {
	out := map[string]string{}
	for key, list := range map[string][]string{"family": r.Families, "slice": r.Slices, "case": r.Cases} {
		if len(list) > 0 {
			out[key] = strings.Join(list, ",")
		}
	}
	if r.Limit > 0 {
		out["limit"] = fmt.Sprint(r.Limit)
	}
	return out
}
