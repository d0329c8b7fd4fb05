package run

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
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

// TestModuleMirror holds that the ways to one submodule lead to one mirror, and those of
// different ones to different mirrors.
func TestModuleMirror(t *testing.T) {
	t.Parallel()
	const beside = "https://github.example/o/r.git"
	want := moduleMirror(beside, module{"m", "../big.git"})
	for raw, same := range map[string]bool{
		"../x/../big.git":                   true,
		"../big":                            true,
		"..//big.git/":                      true,
		"https://github.example/o/big.git":  true,
		"../other.git":                      false,
		"https://github.example/p/big.git":  false,
		"https://git.example/o/big.git":     false,
		"https://github.example/o/big2.git": false,
	} {
		if got := moduleMirror(beside, module{"m", raw}); (got == want) != same {
			t.Errorf("%s: %s, and %s of ../big.git", raw, got, want)
		}
	}
	if moduleMirror("", module{"m", "../a.git"}) == moduleMirror("", module{"m", "../b.git"}) {
		t.Error("beside a repository without an address all have one mirror")
	}
}

// TestModulesAreBounded holds that a tree of very many submodules does not have them all fetched.
func TestModulesAreBounded(t *testing.T) {
	t.Parallel()
	g, err := git.New("", os.Environ(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Skip(err)
	}
	m, err := workspace.OpenMirror(t.Context(), g, filepath.Join(t.TempDir(), "mirror.git"), "")
	if err != nil {
		t.Fatal(err)
	}
	var many []workspace.Submodule
	for i := range maxModules + 10 {
		many = append(many, workspace.Submodule{Path: fmt.Sprint("m", i), OID: strings.Repeat("1", 40)})
	}
	b := &bringing{}
	err = b.all(t.Context(), moduleSource{mirror: m, commit: strings.Repeat("2", 40)}, "", many, moduleDepth)
	if err == nil || strings.Count(err.Error(), "does not name it") != maxModules || !strings.Contains(err.Error(), "m256 and those after it: no more than 256") {
		t.Errorf("got %v", err)
	}
}
