package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/model/script"
)

// A typed is a command, or a document of YAML, that the docs show in a block.
type typed struct {
	page string // from the top of the repository
	text string // a command in one line; of YAML how it begins
}

// TestDocs holds that everything that the docs show for typing is executed: by a
// test that the table names, or else the table says what keeps a test from it. What is
// new in the docs and not in the table fails here.
func TestDocs(t *testing.T) {
	t.Parallel()
	there, tests := shown(t), testsThereAre(t)
	for _, c := range there {
		i := slices.IndexFunc(shownInDocs, func(d inDocs) bool { return d.page == c.page && d.text == c.text })
		if i < 0 {
			t.Errorf("%s: %q is new: execute it in a test and name that in shownInDocs", c.page, c.text)
		}
	}
	for _, d := range shownInDocs {
		if !slices.ContainsFunc(there, func(c typed) bool { return d.page == c.page && d.text == c.text }) {
			t.Errorf("%s: %q is in shownInDocs and not in the docs", d.page, d.text)
		}
		if (d.by == "") == (d.cannot == "") {
			t.Errorf("%s: %q: want a test or a reason", d.page, d.text)
		}
		for _, name := range testName.FindAllString(d.by+" "+d.cannot, -1) {
			if !tests[name] {
				t.Errorf("%s: %q: there is no test %s", d.page, d.text, name)
			}
		}
	}
	// A command in the middle of a sentence is one that ycbot has.
	for page, text := range pages(t) {
		for _, m := range regexp.MustCompile("`ycbot ([^`\n]+)`").FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if problem := has(m[1]); problem != "" && !slices.Contains(notTyped, m[1]) {
				t.Errorf("%s: `ycbot %s`: %s", page, m[1], problem)
			}
		}
	}
}

var testName = regexp.MustCompile(`\bTest\w+(/\w+)?`)

// notTyped are the names of test suites in JUnit, and what the sandbox starts itself with.
var notTyped = []string{"checks", "tests", "sandbox-exec"}

// has says why ycbot does not have a command with the flags that it is written with.
// Words in capitals and dots stand for something.
func has(line string) string {
	words := strings.Fields(strings.NewReplacer("[", " ", "]", " ", "|", " ", "…", "").Replace(line))
	root := rootCommand(&program{})
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if len(rest) > 0 && cmd.HasSubCommands() && !strings.HasPrefix(rest[0], "-") {
		return "no command " + rest[0]
	}
	for _, word := range rest {
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(strings.TrimRight(name, ".,;:"), "=")
		if isFlag && name != "" && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && name != "help" {
			return "no flag --" + name
		}
	}
	return ""
}

// fence is a block of code.
var fence = regexp.MustCompile("(?ms)^( *)```(\\w*)[^`\n]*\n(.*?)^ *```$") // behind the language may be a path

// pages are the texts of the docs by their names.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*.md"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out[strings.TrimPrefix(filepath.ToSlash(file), "../../")] = string(text)
		}
	}
	return out
}

// shown are the commands and YAML documents of all pages.
func shown(t *testing.T) []typed {
	t.Helper()
	var out []typed
	for page, text := range pages(t) {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			language, block := m[2], m[3]
			switch language {
			case "yaml", "yml":
				out = append(out, typed{page, title(block)})
			case "sh", "bash", "shell":
				for _, c := range commands(block) {
					out = append(out, typed{page, c})
				}
			case "console", "": // commands among what they print
				for line := range strings.Lines(block) {
					c, prompt := strings.CutPrefix(strings.TrimSpace(line), "$ ")
					if prompt || strings.HasPrefix(c, "ycbot ") {
						out = append(out, typed{page, strings.Join(commands(c), "")})
					}
				}
			}
		}
	}
	return out
}

// title is how a YAML document begins, by which it is known: two lines that say something.
func title(block string) string {
	var out []string
	for line := range strings.Lines(block) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && len(out) < 2 {
			out = append(out, line)
		}
	}
	return strings.Join(out, " ")
}

// commands are those of a shell script without its comments, each in one line.
func commands(block string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// testsThereAre are the names of the Go tests of all packages, and those of the scripts here.
func testsThereAre(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range scripts {
		found["TestScript/"+strings.TrimSuffix(filepath.Base(file), ".txtar")] = true
	}
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				found[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// block is the block of a page in which a line stands, as it is.
func block(t *testing.T, page, line string) string {
	t.Helper()
	for _, m := range fence.FindAllStringSubmatch(pages(t)[page], -1) {
		if text := unindent(m[3], m[1]); strings.Contains("\n"+text, "\n"+line) {
			return text
		}
	}
	t.Fatalf("%s has no block with %q", page, line)
	return ""
}

func unindent(text, by string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n"+by, "\n"), "\n")
}

// A newcomer types what README says, in a home of their own.
type newcomer struct{ home, bin string }

// newNewcomer has ycbot on the path, and a project with two releases, the second of
// which is checked out and changed.
func newNewcomer(t *testing.T) newcomer {
	t.Helper()
	n := newcomer{home: t.TempDir(), bin: t.TempDir()}
	self := programFile(t)
	write(t, filepath.Join(n.bin, "ycbot"), "#!/bin/bash\nexec -a ycbot '"+self+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(n.bin, "ycbot"), 0o755); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(n.home, "src/project")
	makeChange(t, project, sumBase, sumHead)
	for tag, at := range map[string]string{"v1.2.0": "main", "v1.2.1": "change"} {
		if out, err := exec.CommandContext(t.Context(), "git", "-C", project, "tag", tag, at).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	write(t, filepath.Join(project, "notes.txt"), "not committed yet\n")
	return n
}

// types types commands one after the other; each has to end with exit 0.
func (n newcomer) types(t *testing.T, commands []string, env ...string) string {
	t.Helper()
	cmd := realProgram(t, n.home, "")
	cmd.Path, cmd.Args = "/bin/bash", []string{"bash", "-e", "-c", strings.Join(commands, "\n")}
	cmd.Dir, cmd.Env = n.home, append(slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "YCBOT_HOME=") }), env...)
	cmd.Env = append(cmd.Env, "PATH="+n.bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", commands, err, out)
	}
	return string(out)
}

// What README has people type on a laptop works as it stands there: without a model, with
// one, and with what is checked and read afterwards.
func TestReadme(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	local := commands(block(t, "README.md", "ycbot run --dirty"))
	if local[0] != "go install ./cmd/ycbot" || local[len(local)-1] != "ycbot doctor" {
		t.Fatalf("README: %q", local)
	}
	out := n.types(t, local[1:len(local)-1])
	if got := strings.Count(out, "VERDICT: PASS"); got != 2 {
		t.Errorf("%d runs print their verdict, want 2\n%s", got, out)
	}
	check := strings.ReplaceAll(commands(block(t, "README.md", "ycbot run --pr 7"))[3], "…", "*")
	last := strings.LastIndex(check, "*") // the last one of all runs
	if out := n.types(t, []string{"set -- " + check[len("ycbot check "):last+1], check[:len("ycbot check ")] + `"$1"`}); !strings.HasPrefix(out, "intact: run ") {
		t.Errorf("%s\n%s", check, out)
	}
	n.types(t, []string{"cd ~/src/project", "ycbot doctor || [ $? = 1 ]"}) // 1: this machine lacks something
	e := newEndpoint(t, providerKey, honestModel)
	asked := block(t, "README.md", "ycbot run --model gpt-5 --max-cost-usd 2")
	asked = strings.NewReplacer("YCBOT_API_KEY=…", "YCBOT_API_KEY="+providerKey, "http://127.0.0.1:11434/v1", e.url).Replace(asked)
	for _, c := range commands(asked)[1:] {
		if strings.Contains(c, "anthropic") {
			continue // TestRunByEachAPI
		}
		before := len(e.requests())
		out := n.types(t, []string{commands(asked)[0], "cd ~/src/project", c}, "OPENAI_BASE_URL="+e.url)
		if len(e.requests()) == before || !strings.Contains(out, "VERDICT: ") {
			t.Errorf("%s: %d questions\n%s", c, len(e.requests())-before, out)
		}
	}
}

// The statement is read by jq as docs/formats.md shows, and its digests are right.
func TestStatementIsRead(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed")
	}
	n := newNewcomer(t)
	reading := commands(block(t, "docs/formats.md", "jq '.predicate | {result, failedTests}' statement.intoto.json"))
	out := n.types(t, append([]string{"cd ~/src/project", "ycbot run --quiet --out ~/run >/dev/null", "cd ~/run"}, reading...))
	for _, want := range []string{`"result": "PASSED"`, "report.json: OK", "evidence.jsonl: OK"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// Parts of files that the docs show are what their readers take.
func TestSnippets(t *testing.T) {
	t.Parallel()
	if _, err := config.Parse("docs/detection.md", []byte("version: 1\n"+block(t, "docs/detection.md", "commands:\n"))); err != nil {
		t.Error(err)
	}
	if o, err := config.ParseOperator("docs/operate.md", []byte(block(t, "docs/operate.md", "version: 1\nrepositories:"))); err != nil || o.Repositories.Allows("acme/sandbox-1") {
		t.Error(err)
	}
	n := newNewcomer(t)
	own := ".ycbot/agents/migrations.md"
	agent := block(t, "docs/agents.md", "---\nname: migrations")
	write(t, filepath.Join(n.home, own), strings.Replace(agent, "timeout: 5m\n", "timeout: 5m\n"+block(t, "docs/agents.md", "permission:"), 1))
	if out := n.types(t, []string{"ycbot agents check " + own}); !strings.Contains(out, "files: 1, agents: 1, errors: 0, warnings: 0") {
		t.Error(out)
	}
	write(t, filepath.Join(n.home, "src/project", own), agent)
	for _, c := range []string{"ycbot agents show migrations", "ycbot agents list"} {
		if out := n.types(t, []string{"cd ~/src/project", c}); !strings.Contains(out, "migrations") || strings.Contains(out, "warning:") {
			t.Errorf("%s\n%s", c, out)
		}
	}
	if _, err := script.Parse([]byte(block(t, "docs/agents.md", "-- migrations --"))); err != nil {
		t.Error(err)
	}
	var gitlab struct{ Verify struct{ Script string } }
	if err := yaml.Unmarshal([]byte(block(t, "docs/formats.md", "# GitLab")), &gitlab); err != nil {
		t.Fatal(err)
	}
	n.types(t, []string{"cd ~/src/project", gitlab.Verify.Script}, "CI_MERGE_REQUEST_DIFF_BASE_SHA=main")
	if text, err := os.ReadFile(filepath.Join(n.home, "src/project/junit.xml")); err != nil || !strings.Contains(string(text), "<testsuites") {
		t.Errorf("%v\n%s", err, text)
	}
}

// The workflow of README is a short form of the first one of docs/action.md, which
// TestTeamWorkflow runs: it begins upon some of the same events, asks for the same
// permissions and gives the same inputs.
func TestReadmeWorkflow(t *testing.T) {
	t.Parallel()
	type workflow struct {
		On          map[string]struct{ Types []string }
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn      string `yaml:"runs-on"`
			Permissions map[string]string
			Steps       []struct {
				Uses string
				With map[string]string
			}
		}
	}
	var short, whole workflow
	for text, into := range map[string]*workflow{block(t, "README.md", "on: {"): &short, block(t, "docs/action.md", "name: ycbot\n"): &whole} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	for event, want := range short.On {
		if diff := cmp.Diff(whole.On[event], want); diff != "" {
			t.Errorf("%s (-docs/action.md +README)\n%s", event, diff)
		}
	}
	job, want := short.Jobs["verify"], whole.Jobs["verify"]
	for _, step := range want.Steps {
		if strings.HasPrefix(step.Uses, "ycbot/ycbot@") {
			want.Steps = append(want.Steps[:0:0], step)
			break
		}
	}
	if diff := cmp.Diff(want, job); diff != "" || len(short.Permissions) != 0 {
		t.Errorf("(-docs/action.md +README)\n%s", diff)
	}
}
