package corpus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNormalizePath(t *testing.T) {
	plain := side("lib/app.py", "", "src/app.py", "", "src/util.py", "")
	odd := side("fixed/app.py", "", "util.py", "", "x/util.py", "")
	cases := []struct {
		claimed string
		side    *Side
		want    string
	}{
		{"src/app.py", plain, "src/app.py"},
		{"./src/app.py", plain, "src/app.py"},
		{"././src//app.py", plain, "src/app.py"},
		{" src/app.py ", plain, "src/app.py"},
		{`src\app.py`, plain, "src/app.py"},
		{`.\vulnerable\src\app.py`, plain, "src/app.py"},
		{"fixed/src/app.py", plain, "src/app.py"},
		{"vulnerable/src/app.py", nil, "src/app.py"},
		{"vulnerable/fixed/src/app.py", plain, "src/app.py"},
		{"src/x/../app.py", plain, "src/app.py"},
		{"/srv/repo/src/app.py", plain, "src/app.py"},
		{`C:\repo\src\app.py`, plain, "src/app.py"},
		{"/src/app.py", plain, "src/app.py"},

		{"app.py", plain, "app.py"}, // two files are called so, and one would not do either
		{"util.py", plain, "util.py"},
		{"/srv/other.py", plain, "/srv/other.py"},
		{"/srv/xsrc/app.py", plain, "/srv/xsrc/app.py"},
		{"repo/src/app.py", plain, "repo/src/app.py"},
		{"../src/app.py", plain, "../src/app.py"},
		{"SRC/app.py", plain, "SRC/app.py"},
		{"vulnerable", plain, "vulnerable"},
		{"", plain, ""},
		{"  ", plain, ""},
		{"/srv/src/app.py", nil, "/srv/src/app.py"},

		{"fixed/app.py", odd, "fixed/app.py"}, // the side does have such a folder
		{"vulnerable/fixed/app.py", odd, "fixed/app.py"},
		{"/w/x/util.py", odd, "/w/x/util.py"}, // util.py or x/util.py
		{"/w/util.py", odd, "util.py"},
	}
	for _, c := range cases {
		t.Run(c.claimed, func(t *testing.T) { assert.Equal(t, c.want, NormalizePath(c.claimed, c.side)) })
	}
}

func FuzzNormalizePath(f *testing.F) {
	for _, seed := range []string{`.\vulnerable\src\app.py`, "/x/src/app.py", "fixed/fixed/a", "C:/a/lib/app.py", "vulnerable/ /x", "..", "vulnerable/C:/src/app.py"} {
		f.Add(seed)
	}
	s := side("fixed/odd.py", "", "lib/app.py", "", "src/app.py", "")
	f.Fuzz(func(t *testing.T, claimed string) {
		got := NormalizePath(claimed, s)
		if again := NormalizePath(got, s); again != got {
			t.Fatalf("%q becomes %q and then %q", claimed, got, again)
		}
		_, found := s.File(got)
		if found && !strings.Contains(strings.ReplaceAll(claimed, `\`, "/"), got[strings.LastIndex(got, "/")+1:]) {
			t.Fatalf("%q became %q, which it does not name", claimed, got)
		}
		if strings.Contains(got, `\`) {
			t.Fatalf("%q keeps a backslash: %q", claimed, got)
		}
	})
}
