package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

const providerKey = "sk-planted0123456789abcdefghijklmnop"

const honestModel = `
-- model --
> run_bash {"command": "sh sum.sh 2 3"}
> run_bash {"command": "sh sum.sh
> read_file [1, 2]
> rm {"path": "sum.sh"}
---
<* not a JSON object
<* there is no such tool
> run_bash {"command": "sh sum.sh -2 -3"}
---
### Check: adds two numbers
**Command run:** ` + "`sh sum.sh 2 3`" + `
**Output observed:**
` + "```\n{{output 1}}\n```" + `
**Result: PASS**

### Check: adds below zero [adversarial]
**Command run:** ` + "`sh sum.sh -2 -3`" + `
**Output observed:**
` + "```\n{{output 2}}\n```" + `
**Result: PASS**

VERDICT: PASS
`

var sumBase = map[string]string{
	".github/ycbot.yml": "version: 1\ncommands: {test: sh test.sh}\n",
	"test.sh":           "test \"$(sh sum.sh 1 1)\" = 2\n",
	"sum.sh":            "echo $(($1 + $2))\n",
}

var sumHead = map[string]string{"sum.sh": "# adds two numbers\necho \"$(($1 + $2))\"\n"}

// A provided is a run of the real program that asks an endpoint.
type provided struct {
	code   int
	stdout string
	stderr string
	out    string // run directory
	rep    report.Report
}

func provide(t *testing.T, e *endpoint, base, head map[string]string, env []string, args ...string) provided {
	t.Helper()
	dir := t.TempDir()
	repo, p := filepath.Join(dir, "repo"), provided{out: filepath.Join(dir, "out")}
	makeChange(t, repo, base, head)
	cmd := realProgram(t, filepath.Join(dir, "home"), append([]string{"run", "-C", repo, "--model", "m", "--base-url", e.url, "--out", p.out}, args...)...)
	cmd.Env = append(cmd.Env, append(env, "YCBOT_API_KEY="+e.key)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	p.code, p.stdout, p.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	data, readErr := os.ReadFile(filepath.Join(p.out, "report.json"))
	if readErr != nil {
		t.Fatalf("%v (%v)\n%s", readErr, err, p.stderr)
	}
	if err := json.Unmarshal(data, &p.rep); err != nil {
		t.Fatal(err)
	}
	return p
}

// secretless checks that none of the secrets is in a request, in a file of the
// run or in what the program printed.
func (p provided) secretless(t *testing.T, e *endpoint, secrets ...string) {
	t.Helper()
	check := func(where string, text []byte) {
		for _, s := range secrets {
			if i := bytes.Index(text, []byte(s)); i >= 0 {
				t.Errorf("%s holds %q: …%q…", where, s, text[max(0, i-120):min(len(text), i+len(s)+40)])
			}
		}
	}
	for _, body := range e.requests() {
		check("a request", []byte(body))
	}
	check("stdout", []byte(p.stdout))
	check("stderr", []byte(p.stderr))
	err := filepath.WalkDir(p.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		check(path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An endpoint that refuses for a moment, breaks off and is given nonsense by its
// own model is asked again, with a valid history each time, and the run passes.
func TestEndpointWithFaults(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, providerKey, honestModel, "429", "500", "", "cut", "503")
	p := provide(t, e, sumBase, sumHead, nil)
	if p.code != report.ExitPass || p.rep.Verdict != report.Pass || p.rep.Model != "m" {
		t.Fatalf("exit %d, verdict %s, model %q\n%s\n%s", p.code, p.rep.Verdict, p.rep.Model, p.stdout, p.stderr)
	}
	if n := len(e.requests()); n != 7 {
		t.Errorf("%d requests, want 3 questions and 4 of them again", n)
	}
	if len(p.rep.Denied) != 1 || p.rep.Denied[0].Tool != "rm" {
		t.Errorf("denied: %+v", p.rep.Denied)
	}
	if p.rep.Usage.InputTokens != 300+7 || p.rep.Usage.OutputTokens != 30+1 || p.rep.Usage.CostUSD != nil {
		t.Errorf("usage: %+v", p.rep.Usage)
	}
	p.secretless(t, e, providerKey)
}

// An answer that brings nothing is left when the operator's limit is over and asked
// for once more; the second silence ends the agent, which is tried once more, and a
// limit that is none ends the run.
func TestModelIdle(t *testing.T) {
	variants.Only(t) // the tests of internal/model have it
	t.Parallel()
	e := newEndpoint(t, providerKey, honestModel, "hang")
	p := provide(t, e, sumBase, sumHead, []string{"YCBOT_MODEL_IDLE=4s"}, "--sandbox", "none")
	if p.code != report.ExitPass || len(e.requests()) != 4 {
		t.Errorf("silent once: exit %d after %d requests\n%s", p.code, len(e.requests()), p.stderr)
	}
	e = newEndpoint(t, providerKey, honestModel, "hang", "hang", "hang", "hang")
	p = provide(t, e, sumBase, sumHead, []string{"YCBOT_MODEL_IDLE=1h"}, "--sandbox", "none", "--model-idle", "1s")
	if why := strings.Join(p.rep.Reasons, "\n"); p.code != report.ExitPartial || len(e.requests()) != 4 || !strings.Contains(why, "nothing came for too long (1s)") {
		t.Errorf("silent twice: exit %d after %d requests: %s\n%s", p.code, len(e.requests()), why, p.stderr)
	}
	cmd := realProgram(t, t.TempDir(), "run", "--model", "m", "--base-url", e.url)
	cmd.Env = append(cmd.Env, "YCBOT_API_KEY="+e.key, "YCBOT_MODEL_IDLE=soon")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), `YCBOT_MODEL_IDLE "soon": want a duration`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A key that is refused leaves what the gate found: PARTIAL, with the reason,
// and without the key that the endpoint was tactless enough to repeat.
func TestEndpointRefusesTheKey(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, providerKey, honestModel, "401")
	p := provide(t, e, sumBase, sumHead, nil)
	if p.code != report.ExitPartial || p.rep.Verdict != report.Partial {
		t.Fatalf("exit %d, verdict %s\n%s", p.code, p.rep.Verdict, p.stderr)
	}
	if why := strings.Join(p.rep.Reasons, "\n"); !strings.Contains(why, "the model could not be asked") {
		t.Errorf("reasons: %s", why)
	}
	if n := len(e.requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
	p.secretless(t, e, providerKey)
	// Where no agent is to look, nothing is asked.
	e = newEndpoint(t, providerKey, honestModel, "401")
	p = provide(t, e, sumBase, sumHead, nil, "--until", "first")
	if p.code != report.ExitPass || p.rep.Outcome != report.Completed || len(e.requests()) != 0 {
		t.Errorf("until first: exit %d, %s, asked %d times\n%s", p.code, p.rep.Outcome, len(e.requests()), p.stderr)
	}
}

// What no run may write down or send, in the shapes in which it is planted.
const (
	plantedToken = "ghs_0123456789abcdefghijklmnopqrstuvwxyzAB"
	fileToken    = "ghp_zyxwvutsrqponmlkjihgfedcba9876543210ZZ"
	titleToken   = "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz"
	taskToken    = "glpat-0123456789abcdefghij"
	awsKey       = "AKIAABCDEFGHIJKLMNOP"
	pemBody      = "MIIEowIBAAKCAQEA0123456789abcdefgh"
)

const nosyModel = `
-- model --
> run_bash {"command": "env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/1/environ /proc/self/environ; cat /proc/$PPID/environ /proc/$PPID/cmdline; ls /proc; true"}
> run_bash {"command": "cat /proc/*/environ | base64 -w0; cat /proc/*/environ | xxd -p | tr -d '\\n'; cat conf.txt; true"}
> read_file {"path": "conf.txt"}
> read_many_files {"paths": ["conf.txt", "../out/journal.jsonl", "/proc/self/environ"]}
> grep {"pattern": "gh._|AKIA"}
> git_diff_files {}
> git_log_file {"path": "conf.txt"}
> read_file {"path": "/proc/self/environ"}
> run_bash {"command": "echo ` + taskToken + ` >/dev/null; sh show.sh"}
---
### Check: looked [adversarial]
**Command run:** ` + "`sh show.sh`" + `
**Output observed:**
` + "```\n" + fileToken + "\n```" + `
**Result: PASS**

I found ` + titleToken + `.

VERDICT: PASS
---
### Check: looked [adversarial]
**Command run:** ` + "`sh show.sh`" + `
**Output observed:**
` + "```\n" + fileToken + "\n```" + `
**Result: PASS**

I found ` + titleToken + `.

VERDICT: PASS
`

// The key, a token of the environment, and tokens in a file, a commit message,
// the task, a test's output or the model's own words stand in no request, no file
// of the run and no output, whatever the model tries.
func TestSecretsStayAway(t *testing.T) {
	t.Parallel()
	if err := exec.Command("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").Run(); err != nil {
		t.Skip("bubblewrap does not work here")
	}
	head := map[string]string{
		"conf.txt": "token = \"" + fileToken + "\"\n" + awsKey + "\nkey = \"-----BEGIN RSA PRIVATE KEY-----\\n" + pemBody + "\"\n" +
			"-----BEGIN RSA PRIVATE KEY-----\n" + pemBody + "\n-----END RSA PRIVATE KEY-----\n",
		"show.sh": "cat conf.txt\n",
		"test.sh": "cat conf.txt; echo " + titleToken + "\nexit 1\n",
	}
	for name, text := range sumHead {
		head[name] = text
	}
	e := newEndpoint(t, providerKey, nosyModel)
	p := provide(t, e, sumBase, head, []string{"GITHUB_TOKEN=" + plantedToken, "OPENAI_API_KEY=" + providerKey, "HTTPS_PROXY_PASSWORD=correct-horse-battery"},
		"--task", "use "+taskToken+" for it")
	if p.code != report.ExitFail { // the head's test fails, with the tokens in its output
		t.Errorf("exit %d\n%s\n%s", p.code, p.stdout, p.stderr)
	}
	p.secretless(t, e, providerKey, plantedToken, fileToken, titleToken, taskToken, awsKey, pemBody, "correct-horse-battery")
	if n := len(e.requests()); n != 3 { // the last has the objections of the audit
		t.Errorf("%d requests", n)
	}
}

// A model that is not known to take an effort is asked without one, and the report says so.
func TestEffortIgnored(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, providerKey, honestModel)
	p := provide(t, e, sumBase, sumHead, nil, "--provider", "ollama", "--effort", "high")
	const want = "agent verification: effort high is not used: model m of provider ollama is not known to take one"
	if !slices.Contains(p.rep.Notes, want) || !strings.Contains(p.stderr, want) {
		t.Errorf("notes %q\n%s", p.rep.Notes, p.stderr)
	}
	for _, body := range e.bodies {
		if strings.Contains(body, "reasoning_effort") {
			t.Errorf("it is sent all the same: %s", body[:min(len(body), 500)])
		}
	}
	if p.rep.Verdict != report.Pass {
		t.Errorf("verdict %s: %q", p.rep.Verdict, p.rep.Reasons)
	}
}
