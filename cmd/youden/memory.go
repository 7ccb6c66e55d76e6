package main

import (
	"os"
	"runtime/debug"

	"github.com/youden-bench/youden/bench"
)

// lean keeps a capture small. What it holds is a few megabytes at any number of runs,
// and prompts that are done with pile up beside it until they are collected. At the
// default of 100 % that is 6 MB more than at 50 for 2,000 runs, and more
// for more of them; the collector's part of the processor time of a call goes from a twentieth
// to a tenth. The embedded simulated endpoint has much more in memory, which would be
// gone through again and again for nothing.
func lean(req bench.Request) {
	if os.Getenv("GOGC") == "" && !req.Endpoint.Embedded() {
		debug.SetGCPercent(30)
	}
}
