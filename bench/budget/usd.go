package budget

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// decimal is an amount of money as people write it. A cap finer than a micro-USD
// could not be kept.
var decimal = regexp.MustCompile(`^\$?([0-9]{1,9})(?:\.([0-9]{1,6}))?$`)

// ParseUSD reads dollars such as 2.50 into micro-USD, exactly.
func ParseUSD(text string) (micros int64, err error) {
	m := decimal.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is no amount of US dollars; write such as 2.50, with at most six decimals", text)
	}
	return strconv.ParseInt(m[1]+m[2]+strings.Repeat("0", 6-len(m[2])), 10, 64)
}

// USD prints micro-USD exactly, as $1.00, $0.0312 or $0.000001.
func USD(micros int64) string {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	decimals := fmt.Sprintf("%06d", micros%1_000_000)
	for len(decimals) > 2 && decimals[len(decimals)-1] == '0' {
		decimals = decimals[:len(decimals)-1]
	}
	return fmt.Sprintf("%s$%d.%s", sign, micros/1_000_000, decimals)
}
