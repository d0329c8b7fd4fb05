package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

const editedModel = `
-- model --
> run_bash {"command": "sh sum.sh -1 1"}
> run_bash {"command": "sh sum.sh 2 3 || true"}
> run_bash {"command": "echo x >>sum.sh"}
> write_file {"path": "sum.sh", "content": "x"}
---
### Check: adds below zero
**Command run:** ` + "`sh sum.sh -1 1`" + `
**Output observed:**
` + "```\n{{errors 1}}\n```" + `
**Evidence:** {{evidence 1}}
**Result: FAIL**

### Check: adds two numbers
**Command run:** ` + "`sh sum.sh 2 3 || true`" + `
**Output observed:**
` + "```\n{{output 2}}\n```" + `
**Evidence:** {{evidence 2}}
**Result: PASS**

### Check: never ran [adversarial]
**Command run:** ` + "`sh sum.sh 7 7`" + `
**Output observed:**
` + "```\n14\n```" + `
**Result: PASS**

VERDICT: FAIL
`

// An edited is a copy of a finished run's directory in which someone changes things.
type edited struct {
	dir   string
	files map[string][]byte // as the run left them
}

// newEdited makes a run with an agent that claims one thing of each kind.
func newEdited(t *testing.T) *edited {
	t.Helper()
	dir := t.TempDir()
	repo, scenario := filepath.Join(dir, "repo"), filepath.Join(dir, "scenario")
	e := &edited{dir: filepath.Join(dir, "out"), files: map[string][]byte{}}
	makeChange(t, repo, sumBase, map[string]string{"sum.sh": "case $1 in -*) echo cannot >&2; exit 7;; esac\necho \"$(($1 + $2))\"\n"})
	if err := os.WriteFile(scenario, []byte(editedModel), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := realProgram(t, filepath.Join(dir, "home"), "run", "-C", repo, "--provider", "script", "--base-url", scenario, "--out", e.dir, "--sandbox", "none")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != report.Exit(report.Fail, "", report.Completed) {
		t.Fatalf("%v\n%s", err, out)
	}
	e.read(t)
	return e
}

// read takes what is in the directory for what the run left.
func (e *edited) read(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(e.dir, path)
		if err != nil {
			return err
		}
		e.files[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (e *edited) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// check writes changed files, with sums that fit where that is wanted, checks,
// and puts everything back.
func (e *edited) check(t *testing.T, changed map[string][]byte, fitting bool) []string {
	t.Helper()
	for name, data := range changed {
		e.write(t, name, data)
		defer e.write(t, name, e.files[name])
	}
	if fitting {
		sums := string(e.files["SHA256SUMS"])
		for name, data := range changed {
			was, now := sha256.Sum256(e.files[name]), sha256.Sum256(data)
			sums = strings.Replace(sums, hex.EncodeToString(was[:])+"  "+name+"\n", hex.EncodeToString(now[:])+"  "+name+"\n", 1)
		}
		e.write(t, "SHA256SUMS", []byte(sums))
		defer e.write(t, "SHA256SUMS", e.files["SHA256SUMS"])
	}
	c, err := recheck.Check(e.dir, "")
	if err != nil {
		return []string{err.Error()}
	}
	if c.Report != nil {
		c.Rendered(e.dir)
	}
	return c.Problems
}

// intact fails where the check finds fault with what a run left.
func intact(t *testing.T, dir string) {
	t.Helper()
	c, err := recheck.Check(dir, "")
	if err != nil {
		t.Error(err)
		return
	}
	c.Rendered(dir)
	for _, problem := range c.Problems {
		t.Error("not intact: " + problem)
	}
}

// edit changes, takes out or puts in one byte.
func edit(r *rand.Rand, data []byte) (out []byte, what string) {
	at, b := r.IntN(len(data)+1), byte(r.IntN(256))
	switch op := r.IntN(3); {
	case at == len(data) || op == 0:
		return slices.Insert(slices.Clone(data), at, b), fmt.Sprintf("%q put in at %d", b, at)
	case op == 1:
		return slices.Delete(slices.Clone(data), at, at+1), fmt.Sprintf("taken out at %d", at)
	}
	out = slices.Clone(data)
	for out[at] == b {
		b++
	}
	out[at] = b
	return out, fmt.Sprintf("%q at %d", b, at)
}

// Whatever is changed in a run directory is found and named: any byte by the
// sums; bytes of evidence, outputs and report also by someone who makes the
// sums fit; and each field of the report, and what it was concluded from, also
// by someone who makes the journal fit.
func TestEveryEditIsFound(t *testing.T) {
	t.Parallel()
	e := newEdited(t)
	if problems := e.check(t, nil, false); len(problems) > 0 {
		t.Fatalf("as the run left it: %q", problems)
	}
	n := 50 // make variants makes twenty times as many
	if variants.Asked() {
		n = 1000
	}
	names := slices.Sorted(maps.Keys(e.files))
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		name := names[r.IntN(len(names))]
		data, what := edit(r, e.files[name])
		problems := e.check(t, map[string][]byte{name: data}, false)
		if !slices.ContainsFunc(problems, func(p string) bool { return name == "SHA256SUMS" || strings.HasPrefix(p, name+": ") }) {
			t.Errorf("%s, %s: %q", name, what, problems)
		}
	}
	carried := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name != "evidence.jsonl" && name != "report.json" && name != "report.md" && name != "report.sarif" && name != "junit.xml" && name != "statement.intoto.json" && !strings.HasPrefix(name, "spill/")
	})
	for range n / 4 {
		name := carried[r.IntN(len(carried))]
		data, what := edit(r, e.files[name])
		if problems := e.check(t, map[string][]byte{name: data}, true); len(problems) == 0 {
			t.Errorf("%s, %s, with sums that fit: not found", name, what)
		}
	}
	result := bytes.Replace(e.files["statement.intoto.json"], []byte(`"FAILED"`), []byte(`"PASSED"`), 1)
	if problems := e.check(t, map[string][]byte{"statement.intoto.json": result}, true); !slices.Contains(problems, "statement.intoto.json does not match report.json") {
		t.Errorf("a statement that passes: %q", problems)
	}
	t.Run("report", e.reports)
	t.Run("journal", e.journals)
}

// reports edits each field of report.json, alone and together with the report in
// the journal.
func (e *edited) reports(t *testing.T) {
	var whole map[string]any
	if err := json.Unmarshal(e.files["report.json"], &whole); err != nil {
		t.Fatal(err)
	}
	made := []string{"notes", "model", "timings"} // nothing says what they should be but the journal's report
	for field := range whole {
		other := maps.Clone(whole)
		switch field {
		case "verdict":
			other[field] = "PASS"
		case "outcome":
			other[field] = "cancelled"
		default:
			other[field] = differently(whole[field])
		}
		js := encoded(t, other)
		named := func(problems []string) bool {
			return slices.ContainsFunc(problems, func(p string) bool {
				return strings.HasPrefix(p, "report.json: ") && strings.Contains(p, field) ||
					field == "run_id" && strings.Contains(p, "E1: does not follow") // the log begins with it
			})
		}
		if problems := e.check(t, map[string][]byte{"report.json": js}, true); !named(problems) {
			t.Errorf("%s: %q", field, problems)
		}
		both := map[string][]byte{"report.json": js, "journal.jsonl": e.journal(t, "report", func(any) any { return other })}
		if problems := e.check(t, both, true); !named(problems) && !slices.Contains(made, field) {
			t.Errorf("%s, and in the journal: %q", field, problems)
		}
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// differently is a value of the same kind that is not the same.
func differently(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case float64:
		return v + 1
	case bool:
		return !v
	case []any:
		if len(v) > 0 {
			return v[1:]
		}
		return []any{map[string]any{}}
	case map[string]any:
		out := maps.Clone(v)
		key := slices.Sorted(maps.Keys(out))[0]
		out[key] = differently(out[key])
		return out
	}
	return "x"
}

// journal is journal.jsonl with the result of a stage changed.
func (e *edited) journal(t *testing.T, stage string, change func(any) any) []byte {
	t.Helper()
	var out bytes.Buffer
	for line := range bytes.Lines(e.files["journal.jsonl"]) {
		var entry map[string]any
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		if entry["kind"] == "stage" && entry["key"] == stage {
			entry["data"] = change(entry["data"])
			js, err := json.Marshal(entry)
			if err != nil {
				t.Fatal(err)
			}
			line = append(js, '\n')
		}
		out.Write(line)
	}
	return out.Bytes()
}

// at goes down into a value; numbers are places in a list.
func at(v any, path ...any) map[string]any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v.(map[string]any)
}

// journals edits what the verdict was concluded from.
func (e *edited) journals(t *testing.T) {
	for _, tc := range []struct {
		name, stage, want string
		edit              func(any)
	}{
		{"a check that the log supports in part", "agents", "is related by the log, not supported", func(v any) { at(v, "agents", 0, "Checks", 1)["support"] = "supported" }},
		{"a check that never ran", "agents", "is absent by the log, not supported", func(v any) { at(v, "agents", 0, "Checks", 2)["support"] = "supported" }},
		{"a failure is called old", "agents", "is introduced by what was run again, not pre-existing", func(v any) { at(v, "agents", 0, "Checks", 0)["reproduction"] = "pre-existing" }},
		{"a failure was not run again", "agents", "0 failing checks were run again, and the log has 1", func(v any) { at(v, "agents", 0, "Checks", 0)["reproduction"] = "none" }},
		{"a failure is called a success", "agents", "is not what its reply says", func(v any) { at(v, "agents", 0, "Checks", 0)["result"] = "PASS" }},
		{"a check is left out", "agents", "its reply has 3 checks, the journal 2", func(v any) { a := at(v, "agents", 0); a["Checks"] = a["Checks"].([]any)[1:] }},
		{"another verdict", "agents", "what it concluded is not what follows", func(v any) { at(v, "agents", 0)["Verdict"] = "PASS" }},
		{"tracked files are said to be untouched", "agents", "what it concluded is not what follows", func(v any) { at(v, "agents", 0)["Tripwire"] = nil }},
		{"another reply", "agents", "is not what its model answered", func(v any) { at(v, "results", 0)["text"] = "VERDICT: PASS" }},
		{"no agent", "agents", "no agent verification looked", func(v any) { at(v)["agents"], at(v)["results"] = nil, nil }},
		{"nothing was refused", "agents", "the refused calls are not those of the agents", func(v any) { at(v)["denied"] = nil }},
		{"a command of the gate ended well", "gate", "the log says exit 0, the journal exit 1", func(v any) { at(v, "steps", 1)["exit"] = 1 }},
		{"a command of the gate is another", "gate", "by the journal", func(v any) { at(v, "steps", 1)["command"] = "true" }},
		{"a command of the gate is left out", "gate", "is left out of what the gate found", func(v any) { a := at(v); a["steps"] = a["steps"].([]any)[1:] }},
		{"the gate's verdict", "gate", "report.json: reasons differs from what follows", func(v any) { at(v)["verdict"], at(v)["reasons"] = "PARTIAL", []any{"x"} }},
	} {
		data := e.journal(t, tc.stage, func(v any) any { tc.edit(v); return v })
		problems := e.check(t, map[string][]byte{"journal.jsonl": data}, true)
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, tc.want) }) {
			t.Errorf("%s: %q", tc.name, problems)
		}
	}
}

// What is reported of the last run's checks is held against the run that is kept and
// against what the log has of their commands.
func TestEveryEditOfTheLastRunIsFound(t *testing.T) {
	t.Parallel()
	first := newEdited(t)
	dir := filepath.Dir(first.dir)
	e := &edited{dir: filepath.Join(dir, "next"), files: map[string][]byte{}}
	cmd := realProgram(t, filepath.Join(dir, "home"), "run", "-C", filepath.Join(dir, "repo"), "--previous", first.dir, "--out", e.dir, "--sandbox", "none")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != report.Exit(report.Fail, "", report.Completed) {
		t.Fatalf("%v\n%s", err, out)
	}
	e.read(t)
	if problems := e.check(t, nil, false); len(problems) > 0 {
		t.Fatalf("as the run left it: %q", problems)
	}
	for _, tc := range []struct {
		name, stage, want string
		edit              func(any)
	}{
		{"a failure is called fixed", "previous", "is not what its evidence shows", func(v any) { at(v, "checks", 0)["now"] = "fixed" }},
		{"a failure is called old", "previous", "is not what its evidence shows", func(v any) { at(v, "checks", 0)["reproduction"] = "pre-existing" }},
		{"the base was not asked", "previous", "is not what its evidence shows", func(v any) { c := at(v, "checks", 0); c["evidence"] = c["evidence"].([]any)[:1] }},
		{"evidence of another check", "previous", "is not of its command", func(v any) { at(v, "checks", 0)["evidence"] = at(v, "checks", 1)["evidence"] }},
		{"it was not looked at", "previous", "is left out of what became of the last run", func(v any) {
			c := at(v, "checks", 0)
			c["now"], c["reproduction"], c["evidence"] = "not-revisited", "", []any{}
		}},
		{"it had passed", "previous", "does not stand there as the last run has it", func(v any) { at(v, "checks", 0)["was"] = "PASS" }},
		{"a check is left out", "previous", "is left out", func(v any) { m := at(v); m["checks"] = m["checks"].([]any)[1:] }},
		{"a check too many", "previous", "the last run had no check", func(v any) { m := at(v); m["checks"] = append(m["checks"].([]any), at(v, "checks", 0)) }},
		{"another run", "previous", "is not what is in previous", func(v any) { at(v)["run_id"] = "x" }},
		{"another verdict", "previous", "is not what is in previous", func(v any) { at(v)["verdict"] = "PASS" }},
		{"nothing is said of it", "previous", "nothing is said of it", func(v any) { m := at(v); m["run_id"], m["checks"] = "", []any{} }},
		{"another run is kept", "takeover", "previous: SHA256SUMS has the digest", func(v any) { at(v)["digest"] = strings.Repeat("0", 64) }},
		{"none is kept", "takeover", "and none is kept", func(v any) { at(v)["digest"] = "" }},
	} {
		data := e.journal(t, tc.stage, func(v any) any { tc.edit(v); return v })
		problems := e.check(t, map[string][]byte{"journal.jsonl": data}, true)
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, tc.want) }) {
			t.Errorf("%s: %q", tc.name, problems)
		}
	}
	altered := slices.Concat(e.files["previous/report.md"], []byte("x"))
	if problems := e.check(t, map[string][]byte{"previous/report.md": altered}, true); !slices.Contains(problems, "previous: report.md: not what the run wrote") {
		t.Errorf("the run that is kept is altered: %q", problems)
	}
}
