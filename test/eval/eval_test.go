package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/report"
	gotest "github.com/ycbot/ycbot/internal/testing/gocache"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/releases"
)

var everyCase = flag.Bool("full", false, "let the gate judge every made case, not only a few")

// perfect is a model that tries the edge of the case "paging" and reports what
// it saw, whichever attempt it is given.
const perfect = `-- verification --
> run_bash {"command": "go run ./cmd/pages 20 10 && test \"$(go run ./cmd/pages 20 10)\" = 2", "description": "a whole number of pages"}
> run_bash {"command": "test \"$(go run ./cmd/pages 20 10)\" = 2 && echo PASS || echo FAIL", "description": "the same as a word"}
---
### Check: a whole number of pages has no empty page [adversarial]
**Command run:** ` + "`go run ./cmd/pages 20 10 && test \"$(go run ./cmd/pages 20 10)\" = 2`" + `
**Output observed:**
` + "```\n{{output 1}}\n```" + `
**Expected vs Actual:** 2; it says {{output 1}}
**Evidence:** {{evidence 1}}
**Result: {{output 2}}**

VERDICT: {{output 2}}
`

// lazy is a model that tries one thing that the tests try already, and is content.
const lazy = `-- verification --
> run_bash {"command": "go run ./cmd/pages 25 10", "description": "some pages"}
---
### Check: pages are counted [adversarial]
**Command run:** ` + "`go run ./cmd/pages 25 10`" + `
**Output observed:**
` + "```\n{{output 1}}\n```" + `
**Evidence:** {{evidence 1}}
**Result: PASS**

VERDICT: PASS
`

// liar is a model that reports what it did not run, also when it is asked again.
const liar = `-- verification --
> run_bash {"command": "go run ./cmd/pages 25 10", "description": "some pages"}
---
` + lie + `---
<* It does not count as it stands
` + lie

const lie = `### Check: a whole number of pages has no empty page [adversarial]
**Command run:** ` + "`go run ./cmd/pages 30 10`" + `
**Output observed:**
` + "```\n3\n```" + `
**Result: PASS**

VERDICT: PASS
`

// down is an endpoint that refuses the key.
const down = "-- verification --\n! 401\n"

// TestYcbot runs the real program over made cases, with scripted models. What
// it compiles is shared.
func TestYcbot(t *testing.T) {
	variants.Only(t) // "make eval" runs more of the same, and what is counted has tests of its own
	t.Parallel()
	if testing.Short() {
		t.Skip("verifies some cases with the real program")
	}
	env := append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "YCBOT_MODEL=", "YCBOT_PROVIDER=", "YCBOT_BASE_URL=", "OPENAI_BASE_URL=", "YCBOT_API_KEY=", "OPENAI_API_KEY=")
	if !*everyCase {
		env = append(env, "CGO_ENABLED=0") // the race detector would double the time, and is not what this is about
	}
	shared := t.TempDir()
	program, home := filepath.Join(shared, "ycbot"), filepath.Join(shared, "home")
	if err := build(t.Context(), os.Environ(), program); err != nil { // as the tests of cmd/ycbot have compiled it
		t.Fatal(err)
	}
	if err := gotest.Std(t.Context(), filepath.Join(home, "cache", "go-build"), gotest.Cover); err != nil {
		t.Fatal(err)
	}
	scenario, out := filepath.Join(shared, "scenario.txtar"), filepath.Join(shared, "out")
	// with evaluates cases with a scripted model.
	with := func(t *testing.T, model, cases, out string) (code int, res Results, stdout, stderr string) {
		t.Helper()
		if err := os.WriteFile(scenario, []byte(model), 0o600); err != nil {
			t.Fatal(err)
		}
		var o, e bytes.Buffer
		code = eval(t.Context(), []string{"-provider", "script", "-base-url", scenario, "-cases", cases, "-ycbot", program, "-home", home, "-out", out, "-jobs", "2"}, env, &o, &e)
		data, err := os.ReadFile(filepath.Join(out, "results.json"))
		if err != nil {
			t.Fatalf("%v\n%s", err, e.String())
		}
		if err := json.Unmarshal(data, &res); err != nil {
			t.Fatal(err)
		}
		return code, res, o.String(), e.String()
	}
	// A provider that gives no answer says nothing about agents: no case counts
	// as finished, and the same command tries them again.
	code, res, _, stderr := with(t, down, "paging/bad", out)
	if code != exitNoVerdict || res.Total.NoVerdict != 1 || !strings.Contains(stderr, "1 without a verdict") {
		t.Fatalf("no endpoint: exit %d, %+v\n%s", code, res, stderr)
	}
	code, res, stdout, stderr := with(t, perfect, "paging", out)
	want := Score{Cases: 2, Good: 1, Bad: 1, TrueFails: 1, Precision: new(1.0), Recall: new(1.0)}
	if diff := cmp.Diff(want, numbers(res.Total)); code != exitOK || diff != "" {
		t.Fatalf("perfect: exit %d (-want +got):\n%s\n%s%s", code, diff, stderr, stdout)
	}
	if i := slices.IndexFunc(res.Cases, func(r Result) bool { return r.Bad }); !slices.ContainsFunc(res.Cases[i].Checks, func(c Check) bool {
		return c.Result == report.ResultFail && c.Support == report.Supported && c.Reproduction == report.Introduced
	}) || res.Cases[i].InputTokens == 0 || res.Cases[i].DurationMS == 0 || res.Cases[i].CostUSD == nil {
		t.Errorf("perfect: %+v", res.Cases[i])
	}
	for _, words := range []string{"paging/bad", "precision                100 % (1 of 1)", "recall                   100 % (1 of 1)"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("%q is not in what is printed:\n%s", words, stdout)
		}
	}
	if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(res.Cases[0].Run), "report.md")); err != nil {
		t.Error(err)
	}
	// What is finished is not run again, whatever the model would say now.
	code, again, _, stderr := with(t, down, "paging", out)
	if diff := cmp.Diff(res, again); code != exitOK || diff != "" || !strings.Contains(stderr, "2 of them finished already") {
		t.Errorf("again: exit %d (-first +again):\n%s\n%s", code, diff, stderr)
	}
	// A bad change that is let through lowers recall; without any FAIL there is no precision.
	code, res, stdout, stderr = with(t, lazy, "paging/bad", filepath.Join(shared, "lazy"))
	if diff := cmp.Diff(Score{Cases: 1, Bad: 1, Recall: new(0.0)}, numbers(res.Total)); code != exitOK || diff != "" {
		t.Errorf("lazy: exit %d (-want +got):\n%s\n%s%s", code, diff, stderr, stdout)
	}
	// What the log has nothing of is struck out, and the turn that could have put it right is counted.
	code, res, stdout, stderr = with(t, liar, "paging/bad", filepath.Join(shared, "liar"))
	want = Score{Cases: 1, Bad: 1, Partial: 1, Struck: 1, Repairs: 1, Recall: new(0.0)}
	if diff := cmp.Diff(want, numbers(res.Total)); code != exitOK || diff != "" || !strings.Contains(stdout, "checks struck out        1 of 1") {
		t.Errorf("liar: exit %d (-want +got):\n%s\n%s%s", code, diff, stderr, stdout)
	}
	t.Run("own scripts", func(t *testing.T) { ownScripts(t, program, env) })
	t.Run("gate", func(t *testing.T) {
		gateAlone(t, program, append(env, "YCBOT_HOME="+home))
	})
}

// ownScripts holds that a case is judged with its own scripted verifier, beside a
// server too, and that a case that is judged in another way than it should be is no success.
func ownScripts(t *testing.T, program string, env []string) {
	t.Helper()
	words := "checkall,rotate"
	want := Score{Cases: 4, Good: 2, Bad: 2, TrueFails: 2, Precision: new(1.0), Recall: new(1.0)}
	if _, err := exec.LookPath("python3"); err == nil {
		words += ",slash"
		want.Cases, want.Good, want.Bad, want.TrueFails = 6, 3, 3, 3
	}
	dir := t.TempDir()
	args := []string{"-provider", "script", "-cases", words, "-ycbot", program, "-out", filepath.Join(dir, "out"), "-jobs", "2"}
	var stdout, stderr bytes.Buffer
	code := eval(t.Context(), args, env, &stdout, &stderr)
	res, err := readResults(filepath.Join(dir, "out", "results.json"), Setup{Model: "script", Provider: "script", Ycbot: digestOf(t, program)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, numbers(res.Total)); code != exitOK || diff != "" {
		t.Fatalf("exit %d (-want +got):\n%s\n%s%s", code, diff, stderr.String(), stdout.String())
	}
	res.put(Result{Case: "other/bad", Group: Seeded, Bad: true, Verdict: report.Partial})
	if n := res.wrong(); n != 1 {
		t.Errorf("%d results are wrong, want 1", n)
	}
}

func digestOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return digest(data)
}

// numbers leaves out what differs from run to run, as what the gate names in its time does
// on a busy machine.
func numbers(s Score) Score {
	return Score{Cases: s.Cases, Good: s.Good, Bad: s.Bad, TrueFails: s.TrueFails, FalseFails: s.FalseFails, Partial: s.Partial, NoVerdict: s.NoVerdict, Struck: s.Struck, Repairs: s.Repairs, Precision: s.Precision, Recall: s.Recall}
}

// gateAlone holds that the gate passes the made cases, the bad ones too, so that
// what is measured is the agents. That of "paging" has shown it above.
func gateAlone(t *testing.T, program string, env []string) {
	t.Helper()
	few := []string{"lease/bad"}
	all, err := seededCases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if !*everyCase && !slices.Contains(few, c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			repo, err := releases.NewRepo(t.Context(), t.TempDir(), releases.GitEnv(env, "dev"))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.fill(t.Context(), repo); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), program, "run", "-C", repo.Dir, "--base", "before", "--head", "after", "--no-model", "--out", t.TempDir())
			cmd.Env = env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestCannotBegin holds that what is missing is said in one line, with what to do.
func TestCannotBegin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, env []string
		want      string
	}{
		{nil, nil, "eval: no model is named: make eval MODEL=NAME, or go run ./test/eval -model NAME\n"},
		{[]string{"-model", ""}, []string{"YCBOT_API_KEY=k"}, "eval: no model is named: make eval MODEL=NAME, or go run ./test/eval -model NAME\n"},
		{[]string{"-model", "m"}, nil, "eval: there is no key for m: set YCBOT_API_KEY or OPENAI_API_KEY, or name an endpoint that needs none with -base-url\n"},
		{[]string{"-provider", "script", "-pairs"}, nil, "eval: -pairs: releases have no scripted verifiers; leave it out, or name a model\n"},
		{[]string{"-model", "m", "-jobs", "0"}, []string{"OPENAI_API_KEY=k"}, "eval: -jobs and -max-cost-usd: want numbers above zero\n"},
		{[]string{"-model", "m", "-base-url", "http://127.0.0.1:1"}, nil, "eval: neither YCBOT_HOME nor HOME is an absolute path: say where results go with -out DIR\n"},
	} {
		var stdout, stderr bytes.Buffer
		if code := eval(t.Context(), c.args, c.env, &stdout, &stderr); code != exitSetup || stderr.String() != c.want || stdout.Len() > 0 {
			t.Errorf("%q: exit %d, %q %q, want %q", c.args, code, stdout.String(), stderr.String(), c.want)
		}
	}
}

// TestResults holds that results of another setup are never mixed in, that a
// case that changed is forgotten, and that no key of a URL is written down.
func TestResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "results.json")
	setup := Setup{Model: "m", Provider: "openai", BaseURL: options{provider: "openai", baseURL: "https://user:secret@example.com/v1?key=secret"}.endpoint(), Ycbot: "1"}
	if setup.BaseURL != "https://example.com/v1" {
		t.Errorf("endpoint %s", setup.BaseURL)
	}
	res, err := readResults(file, setup)
	if err != nil {
		t.Fatal(err)
	}
	res.put(Result{Case: "b/bad", Digest: "1", Group: Seeded, Bad: true, Wrong: "x | y", Verdict: report.Fail, Checks: []Check{{Title: "a <b> \x1b[31m`c`", Result: report.ResultFail}}})
	res.put(Result{Case: "a/good", Digest: "1", Group: Seeded, Verdict: report.Error, Error: "gone"})
	res.put(Result{Case: "a/good", Digest: "1", Group: Seeded, Verdict: report.Pass})
	if err := res.write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"| recall | 100 % (1 of 1) | 100 % (1 of 1) |", `x \| y`, `a &lt;b> \[31m'c'`, "| right |"} {
		if !strings.Contains(string(text), words) {
			t.Errorf("%q is not in\n%s", words, text)
		}
	}
	read, err := readResults(file, setup)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(res, read); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if _, ok := read.of(Case{Name: "a/good", digest: "1"}); !ok {
		t.Error("a/good is not finished")
	}
	read.forget([]Case{{Name: "a/good", digest: "2"}, {Name: "b/bad", digest: "1"}})
	if len(read.Cases) != 1 || read.Total.Cases != 1 || read.Cases[0].Case != "b/bad" {
		t.Errorf("%+v", read)
	}
	setup.Ycbot = "2"
	if _, err := readResults(file, setup); err == nil || !strings.Contains(err.Error(), "-out") {
		t.Errorf("another version of ycbot: %v", err)
	}
}

// TestTake holds which reports say something about agents.
func TestTake(t *testing.T) {
	t.Parallel()
	worked := []report.Subagent{{Agent: "verification", Outcome: "runner_completed"}}
	for name, c := range map[string]struct {
		rep  report.Report
		want string
	}{
		"worked":      {report.Report{Verdict: report.Pass, Outcome: report.Completed, Subagents: worked}, ""},
		"out of time": {report.Report{Verdict: report.Partial, Outcome: report.TimedOut, Subagents: worked}, ""},
		"gate":        {report.Report{Verdict: report.Fail, Outcome: report.Completed}, ""},
		"no-one":      {report.Report{Verdict: report.Partial, Outcome: report.Completed}, "no agent worked: "},
		"no provider": {report.Report{Verdict: report.Partial, Outcome: report.Completed, Reasons: []string{"401"}, Subagents: []report.Subagent{{Agent: "verification", Outcome: "runner_errored"}}}, "the provider gave no answer: 401"},
		"interrupted": {report.Report{Verdict: report.Fail, Outcome: report.Cancelled, Subagents: worked}, "ycbot was interrupted"},
		"no verdict":  {report.Report{Verdict: report.Error, Outcome: report.Errored, Reasons: []string{"disk"}}, "ycbot: disk"},
	} {
		got := ""
		if err := new(Result).take(&c.rep); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestReleaseCases holds that every pair has its release, that those of which it
// is known what they brought are also taken back, and that no name is there twice.
func TestReleaseCases(t *testing.T) {
	t.Parallel()
	names := map[string]int{}
	for _, c := range releaseCases(nil) {
		names[c.Name]++
		if c.Bad != (c.Group == Undone) || c.Bad != (c.Wrong != "") || c.project == "" {
			t.Errorf("%+v", c)
		}
	}
	for _, want := range []string{"semver@v3.3.1/release", "semver@v3.3.1/undone", "yaml.v3@v3.0.1/undone", "testify@v1.8.4/release"} {
		if names[want] != 1 {
			t.Errorf("%s is there %d times: %v", want, names[want], names)
		}
	}
	if names["testify@v1.8.4/undone"] != 0 {
		t.Error("a release that brought nothing is taken back")
	}
	if got := choose(releaseCases(nil), "semver,nothing,yaml"); len(got) != 4 {
		t.Errorf("chosen: %d", len(got))
	}
}
