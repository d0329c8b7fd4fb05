package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// TestParseModules holds which entries of a .gitmodules file are submodules.
func TestParseModules(t *testing.T) {
	t.Parallel()
	got := parseModules("[submodule \"lib\"]\n\tpath = third_party/lib\n\turl = \"https://example.org/lib.git\"\n\tbranch = main\n" +
		"[submodule \"no url\"]\n\tpath = a\n[submodule \"b\"]\nurl=../b.git\npath=b\n[other]\n")
	want := map[string]module{"third_party/lib": {"lib", "https://example.org/lib.git"}, "b": {"b", "../b.git"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(module{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestModuleRemote holds that submodules come from the hosts of the base's submodules and of
// the repository alone, and that its credential goes to no other host.
func TestModuleRemote(t *testing.T) {
	t.Parallel()
	origin := git.Remote{URL: "https://github.example/o/r.git", Settings: []string{"http.extraheader=secret"}}
	base := map[string]module{"a": {"a", "https://git.example/a.git"}, "b": {"b", "git@ssh.example:b.git"}}
	for raw, want := range map[string]string{
		"../lib.git":                       "https://github.example/o/lib.git secret",
		"https://github.example/x/y.git":   "https://github.example/x/y.git secret",
		"https://git.example/other.git":    "https://git.example/other.git",
		"git@ssh.example:c.git":            "git@ssh.example:c.git",
		"https://evil.example/x.git":       "",
		"https://git.example.evil/x.git":   "",
		"file:///etc":                      "",
		"/etc":                             "",
		"../../../../etc":                  "https://github.example/etc secret",
		"ext::sh -c touch% /tmp/x":         "",
		"http://169.254.169.254/x.git":     "",
		"https://git.example@evil.example": "",
	} {
		p := &prepared{runner: &Runner{}, begun: &begun{job: Job{Pull: &Pull{From: origin}}}}
		r, err := p.moduleRemote(origin.URL, module{"m", raw}, base)
		got := r.URL
		if len(r.Settings) > 0 {
			got += " secret"
		}
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q %v, want %q", raw, got, err, want)
		}
		p.runner.Network = rundir.NetworkNone
		if _, err := p.moduleRemote(origin.URL, module{"m", raw}, base); err == nil {
			t.Errorf("%s is fetched without a network", raw)
		}
	}
}
