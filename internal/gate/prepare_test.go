package gate

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// TestBroken holds what is said not to build: packages where the go command
// names them, else the command.
func TestBroken(t *testing.T) {
	t.Parallel()
	step := func(stage Stage, unit, cmd, out string, exit int) Step {
		return Step{Side: Head, Stage: stage, Unit: unit, Command: cmd, Output: out, Exit: exit}
	}
	r := &runner{res: &Result{Steps: []Step{
		step(StageBuild, ".", "go build ./...", "# m/b\nb.go:1: x\n# m/a [m/a.test]\na.go:1: y\n# m/b\n", 1),
		step(StageBuild, "sub", "go build ./...", "go: errors parsing go.mod", 1),
		step(StageBuild, ".", "make", "# a remark of make\nno rule", 2),
		step(StageSetup, ".", "npm ci", "lock file does not match", 1),
		step(StageSetup, ".", "again", "not at first", 1),
		step(StageSetup, ".", "again", "", 0),
		step(StageBuild, ".", "fine", "", 0),
		step(StageTest, ".", "go test", "# m/t\n", 1),
		{Side: Base, Stage: StageBuild, Unit: ".", Command: "base", Exit: 1},
		{Side: Head, Stage: StageBuild, Unit: ".", Command: "slow", TimedOut: true},
	}}}
	sameStrings(t, "head", r.broken(Head), []string{"m/a", "m/b", "make", "npm ci", "slow", "sub: go build ./..."})
	sameStrings(t, "base", r.broken(Base), []string{"base"})
}

// TestCompareLint holds that a complaint is the same wherever in its file it
// moved to, that each counts as often as it is made, and that lines that go on
// belong to theirs.
func TestCompareLint(t *testing.T) {
	t.Parallel()
	lint := func(side Side, exit int, out string) Step {
		return Step{Side: side, Stage: StageLint, Unit: ".", Command: "vet", Exit: exit, Output: out, Evidence: "E1"}
	}
	r := &runner{res: &Result{Steps: []Step{
		lint(Base, 1, "# m\nvet: ./a.go:3:4: old one\na.go:9: twice"),
		lint(Head, 1, "# m\n# [m]\n./a.go:30:4: old one\na.go:10: twice\na.go:20: twice\nb.go:1:2: new\n\thave (int)\n\twant ()\n"),
		lint(Head, 0, "chatter"),
	}}}
	r.compareLint()
	var got []string
	for _, k := range r.res.Lint {
		got = append(got, k.Output)
	}
	sameStrings(t, "new complaints", got, []string{"a.go:20: twice", "b.go:1:2: new; have (int); want ()"})
}

// TestInstallsTheSame holds when the head's setup is a copy of the base's.
func TestInstallsTheSame(t *testing.T) {
	t.Parallel()
	install := ecosystem.Command{Stage: StageSetup, Unit: "web", Text: "npm ci", Installs: "node_modules"}
	other := install
	other.Text = "npm install"
	for _, tt := range []struct {
		what   string
		head   ecosystem.Command
		base   []ecosystem.Command
		failed bool
		paths  []string
		want   bool
	}{
		{"only sources changed", install, []ecosystem.Command{install}, false, []string{"web/src/a.js", "package.json"}, true},
		{"a lockfile changed", install, []ecosystem.Command{install}, false, []string{"web/package-lock.json"}, false},
		{"settings changed", install, []ecosystem.Command{install}, false, []string{"web/.npmrc"}, false},
		{"another command", install, []ecosystem.Command{other}, false, nil, false},
		{"it failed at the base", install, []ecosystem.Command{install}, true, nil, false},
		{"scripts run with it", ecosystem.Command{Stage: StageSetup, Unit: "web", Text: "npm ci"}, []ecosystem.Command{install}, false, nil, false},
	} {
		r := newRunner(&Gate{}, Input{}, task{})
		r.plan[Base], r.prepared[Base] = &sides.Plan{Setup: tt.base}, &snapshot{}
		for _, p := range tt.paths {
			r.in.Change.Files = append(r.in.Change.Files, change.File{Path: p, Status: change.Modified})
		}
		r.res.Steps = []Step{{Stage: StageSetup, Side: Base, Unit: "web", Command: "npm ci", Exit: b2i(tt.failed)}}
		if got := r.installsTheSame(tt.head); got != tt.want {
			t.Errorf("%s: %v", tt.what, got)
		}
	}
	for scripts, want := range map[string]bool{`{}`: true, `{"scripts": {"test": "x"}}`: true, `{"scripts": {"prepare": "tsc"}}`: false, `{"dependencies": {"a": "file:../a"}}`: false, `{"dependencies": {"a": "^1.0.0"}}`: true} {
		var m ecosystem.Manifest
		if err := json.Unmarshal([]byte(scripts), &m); err != nil || m.InstallsAlone() != want {
			t.Errorf("%s: %v, %v", scripts, !want, err)
		}
	}
}

// TestLimited holds that the head gets ten times what the base took, and never
// more than a step may.
func TestLimited(t *testing.T) {
	t.Parallel()
	r := &runner{Gate: &Gate{}, res: &Result{Steps: []Step{
		{Side: Base, Stage: StageBuild, Unit: ".", Command: "make", Duration: 2 * time.Second},
		{Side: Base, Stage: StageTest, Unit: ".", Command: "slow", Duration: 5 * time.Minute},
		{Side: Base, Stage: StageTest, Unit: ".", Command: "cut", Duration: time.Second, TimedOut: true},
	}}}
	for _, tt := range []struct {
		side  Side
		stage Stage
		text  string
		want  time.Duration
	}{
		{Head, StageBuild, "make", 80 * time.Second},
		{Head, StageTest, "slow", 10 * time.Minute},
		{Head, StageTest, "cut", 10 * time.Minute},
		{Head, StageTest, "make", 10 * time.Minute},
		{Base, StageBuild, "make", 10 * time.Minute},
	} {
		if got := r.limited(tt.side, ecosystem.Command{Stage: tt.stage, Unit: ".", Text: tt.text}).Timeout; got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.side, tt.text, got, tt.want)
		}
	}
}

// TestEnvironment holds which failures say nothing about the change.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]bool{
		"go: x@v1: Get \"https://proxy/\": dial tcp: lookup proxy on 10.0.0.1:53: no such host": true,
		"go: example.org/x@v1.0.0: module lookup disabled by GOPROXY=off":                       true,
		"go: go.mod requires go >= 1.99 (running go 1.26; GOTOOLCHAIN=local)":                   true,
		"npm ERR! code ENOTFOUND":                                            true,
		"bash: line 1: protoc: command not found":                            true,
		"fatal: could not read Username for 'https://github.com'":            true,
		"git@github.com: Permission denied (publickey).":                     true,
		"reading https://proxy/x: 503 Service Unavailable":                   true,
		"write /tmp/x: no space left on device":                              true,
		"a.go:1:2: undefined: x":                                             false,
		"go: module x: no required module provides package y":                false,
		"verifying x@v1: checksum mismatch":                                  false,
		"open /etc/x: permission denied":                                     false,
		"exit status 1":                                                      false,
		"make: *** No rule to make target 'all'.  Stop.":                     false,
		"go: example.org/x@v1.2.3: invalid version: unknown revision v1.2.3": false,
	} {
		if got := ecosystem.Environment("first\n" + out + "\nlast"); (got != "") != want || want && got != out {
			t.Errorf("%q: %q, want %v", out, got, want)
		}
	}
}

// A change of a repository without Go is not kept waiting by copies of Go's build cache.
func TestNoGoNoCache(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"a.txt": false, "sub/go.mod": true} {
		var g *Gate
		judge(t, &Toolchains{Go: &GoToolchain{}, Env: []string{"PATH=" + systemPath()}}, &scenario{
			input: map[string][]string{"test": {"true"}},
			base:  map[string][]byte{"b.txt": []byte("b\n"), name: []byte("module example.com/m\n\ngo 1.24\n")},
			head:  map[string][]byte{"b.txt": []byte("c\n"), name: []byte("module example.com/m\n\ngo 1.24\n")},
		}, func(gate *Gate) {
			g = gate
			lay(t, g.store().Seed(), map[string][]byte{"aa/x-a": []byte("std")})
		})
		if got := folder.Exists(g.store().ProjectCache()); got != want {
			t.Errorf("%s: the project has a build cache: %v", name, got)
		}
	}
}
