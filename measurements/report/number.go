package report

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// unknown stands where a number is not known.
const unknown = "n/a"

// rate prints a number of [0, 1] as .75 or 1.00. A rate below 1 never reads
// 1.00, nor one above 0 as .00.
func rate(v *float64) string {
	if v == nil {
		return unknown
	}
	hundredths := math.Round(*v * 100)
	if *v < 1 && hundredths >= 100 {
		hundredths = 99
	}
	if *v > 0 && hundredths <= 0 {
		hundredths = 1
	}
	return strings.TrimPrefix(strconv.FormatFloat(hundredths/100, 'f', 2, 64), "0")
}

// signed prints a number of [-1, 1] as +.65, -.10 or .00, in ASCII.
func signed(v *float64) string {
	if v == nil {
		return unknown
	}
	hundredths := math.Round(*v * 100)
	size := strings.TrimPrefix(strconv.FormatFloat(math.Abs(hundredths)/100, 'f', 2, 64), "0")
	switch {
	case hundredths > 0:
		return "+" + size
	case hundredths < 0:
		return "-" + size
	}
	return size
}

func signedRange(lo, hi *float64) string {
	if lo == nil || hi == nil {
		return unknown
	}
	return "[" + signed(lo) + ", " + signed(hi) + "]"
}

// outOf prints a count and its denominator, and never a share of nothing.
func outOf(x, n int64) string {
	if n == 0 {
		return unknown
	}
	return fmt.Sprintf("%d/%d", x, n)
}

// count prints a sum, marked as a lower bound when parts of it are unknown. A lower
// bound of 0 says nothing.
func count(v *int64, unknownParts int64) string {
	if v == nil || *v == 0 && unknownParts > 0 {
		return unknown
	}
	if unknownParts > 0 {
		return ">=" + strconv.FormatInt(*v, 10)
	}
	return strconv.FormatInt(*v, 10)
}

// dollars prints micro-USD as USD, marked as count does.
func dollars(v *int64, unknownParts int64) string {
	if v == nil || *v == 0 && unknownParts > 0 {
		return unknown
	}
	text := strconv.FormatFloat(float64(*v)/1e6, 'f', 4, 64)
	if unknownParts > 0 {
		return ">=" + text
	}
	return text
}

// reasons prints counts by name, sorted by name.
func reasons(m map[string]int64, between string) string {
	names := make([]string, 0, len(m))
	for name, n := range m {
		if n > 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", m[name], name)
	}
	return strings.Join(names, between)
}

func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func exactInt(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}
