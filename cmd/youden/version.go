package main

import (
	"runtime"
	"runtime/debug"

	"github.com/youden-bench/youden/measurements"
	"github.com/youden-bench/youden/measurements/compare"
)

// release is the version of a build that no module version names.
const release = "0.1.0-dev"

func version() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return release
}

// provenance says what program makes a capture.
func provenance() measurements.Provenance {
	p := measurements.Provenance{Version: version(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	if commit := compare.CommitAt("."); commit != nil {
		p.Commit = *commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return p
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			p.VCSRevision = s.Value
		case "vcs.modified":
			p.Dirty = s.Value == "true"
		}
	}
	return p
}
