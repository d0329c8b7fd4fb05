package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// full uses every key.
const full = `# .github/ycbot.yml
version: 1
on: {pull_request: [opened, synchronize], drafts: true, paths_ignore: ["docs/**", "**/*.md"], outsiders: full}
allow: maintain
commands:
  setup: [npm ci, npx playwright install]
  build: npm run build
  test: |
    npm test
    npm run e2e
  lint: []
env: {TZ: UTC, CI: true, PORT: 8080, DATABASE_URL: "postgres://u:p@localhost:5432/db", MAX_TOKENS: "9"}
network: {allow: ["localhost:5432", "redis.internal:6379", "[::1]:8080"]}
agents: {verification: {model: gpt-5/mini, effort: high}, run: [verification, review], verifiers: auto}
guidance: [docs/testing.md, CONTRIBUTING.md]
limits: {timeout: 1h30m, tokens: 200000, cost_usd: 1.5, cost_usd_per_pr: 7, runs_per_day: 9}
machines: [release-bot, "dependabot[bot]"]
expectations: strict
api: off
fail_on: partial
require_fail_to_pass: true
publish: {comment: off, check: false, annotations: false}
`

func TestParseReadsEveryKey(t *testing.T) {
	t.Parallel()
	got, err := Parse("f", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		On: On{
			PullRequest: []PullRequestAction{Opened, Synchronize}, Drafts: true,
			PathsIgnore: []string{"docs/**", "**/*.md"}, Outsiders: OutsidersFull,
		},
		Allow: Maintain,
		Commands: Commands{
			Setup: []string{"npm ci", "npx playwright install"}, Build: []string{"npm run build"},
			Test: []string{"npm test\nnpm run e2e\n"}, Lint: []string{},
		},
		Env: map[string]string{
			"TZ": "UTC", "CI": "true", "PORT": "8080", "MAX_TOKENS": "9", "DATABASE_URL": "postgres://u:p@localhost:5432/db",
		},
		Network: Network{Allow: []string{"localhost:5432", "redis.internal:6379", "[::1]:8080"}},
		Agents: Agents{
			Run: []string{"verification", "review"}, Verifiers: VerifiersAuto,
			Settings: map[string]Agent{"verification": {Model: "gpt-5/mini", Effort: EffortHigh}},
		},
		Guidance: []string{"docs/testing.md", "CONTRIBUTING.md"},
		Limits:   Limits{Timeout: 90 * time.Minute, Tokens: 200_000, CostUSD: 1.5, CostUSDPerPR: 7, RunsPerDay: 9},
		Machines: []string{"release-bot", "dependabot[bot]"}, Expectations: ExpectationsStrict, API: APIOff,
		FailOn:            FailOnPartial,
		RequireFailToPass: true,
		Publish:           Publish{Comment: CommentOff},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, key := range Keys() {
		if last := key[strings.LastIndexByte(key, '.')+1:]; !strings.Contains(full, last+":") {
			t.Errorf("the file of this test does not use %s", key)
		}
	}
}

// A file that says nothing asks for the defaults, and so does no file.
func TestEmptyFilesAreDefaults(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "\n", "# nothing yet\n", "---\n", "--- # nothing\n...\n", "version: 1\n", "\ufeffversion: 1\n"} {
		got, err := Parse("f", []byte(file))
		if err != nil {
			t.Errorf("%q: %v", file, err)
			continue
		}
		if diff := cmp.Diff(Default(), got); diff != "" {
			t.Errorf("%q: %s", file, diff)
		}
	}
}

// Each mistake is reported with its place, the path of its key and what to do.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, want string }{
		{"no version", "allow: write\n", "f:1:1: version: missing; a configuration begins with `version: 1`"},
		{"other version hides the rest", "version: 2\nnew: x\n", "f:1:10: version: 2 is not known to this ycbot; it reads version 1"},
		{"version in quotes", "version: '1'\n", "f:1:10: version: want the number 1, found text"},
		{"not a mapping", "- version: 1\n", "f:1:1: want keys with values, found a list"},

		{"misspelt", "version: 1\ncommands:\n  tset: x\n", "f:3:3: commands.tset: unknown key; did you mean `commands.test`?"},
		{"misplaced", "version: 1\ntest: x\n", "f:2:1: test: unknown key; did you mean `commands.test`?"},
		{"misspelt, known here", "version: 1\nalow: x\n", "f:2:1: alow: unknown key; did you mean `allow`?"},
		{"misspelt, known there", "version: 1\nnetwork: {alow: x}\n", "f:2:11: network.alow: unknown key; did you mean `network.allow`?"},
		{"dashes", "version: 1\nfail-on: fail\n", "f:2:1: fail-on: unknown key; did you mean `fail_on`?"},
		{"misplaced for an agent", "version: 1\nmodel: x\n", "f:2:1: model: unknown key; did you mean `agents.<agent>.model`?"},
		{"misspelt for an agent", "version: 1\nagents: {review: {modl: x}}\n", "f:2:19: agents.review.modl: unknown key; did you mean `agents.<agent>.model`?"},
		{"like nothing", "version: 1\nfrobnicate: x\n", "f:2:1: frobnicate: unknown key"},
		{"twice", "version: 1\nallow: write\non: {drafts: true}\nallow: admin\n", "f:4:1: allow: given twice, first in line 2"},
		{"twice within", "version: 1\nenv: {A: b, A: c}\n", "f:2:13: env.A: given twice, first in line 2"},
		{"key is a list", "version: 1\n? [a]\n: b\n", "f:2:3: a key must be a word, found a list"},
		{"control characters in a key", `{version: 1, "a\e[31m": 1}`, `f:1:14: a\x1b[31m: unknown key`},

		{"provider", "version: 1\nprovider: x\n", "f:2:1: provider: comes only from the operator (flag, environment), never from a repository"},
		{"base URL of an agent", "version: 1\nagents: {a: {base-url: x}}\n", "f:2:14: agents.a.base-url: comes only from the operator (flag, environment), never from a repository"},
		{"secret", "version: 1\nOPENAI_API_KEY: x\n", "f:2:1: OPENAI_API_KEY: comes only from the operator (flag, environment), never from a repository"},
		{"sandbox", "version: 1\nsandbox: none\n", "f:2:1: sandbox: comes only from the operator (flag, environment), never from a repository"},

		{"text for a boolean", "version: 1\non: {drafts: yes}\n", "f:2:14: on.drafts: want true or false, found text"},
		{"boolean for a command", "version: 1\ncommands: {test: true}\n", "f:2:18: commands.test: want a command or a list of commands (in quotes), found the boolean true"},
		{"mapping for a list", "version: 1\non: {paths_ignore: {a: b}}\n", "f:2:20: on.paths_ignore: want a list, found keys with values"},
		{"nothing", "version: 1\ncommands:\nallow: write\n", "f:2:10: commands: want keys with values, found nothing; leave the key out to keep the default"},
		{"null", "version: 1\nallow: null\n", "f:2:8: allow: want text (in quotes), found null"},
		{"tagged", "version: 1\nallow: !mine write\n", "f:2:8: allow: want text (in quotes), found a value tagged !mine"},

		{"enum", "version: 1\nfail_on: always\n", `f:2:10: fail_on: want one of auto, fail, partial, never; found "always"`},
		{"permission", "version: 1\nallow: triage\n", `f:2:8: allow: want one of write, maintain, admin; found "triage"`},
		{"outsiders", "version: 1\non: {outsiders: some}\n", `f:2:17: on.outsiders: want one of gate, full, never; found "some"`},
		{"comment", "version: 1\npublish: {comment: never}\n", `f:2:20: publish.comment: want one of sticky, new, off; found "never"`},
		{"action", "version: 1\non:\n  pull_request:\n    - opened\n    - merged\n", `f:5:7: on.pull_request: want one of opened, synchronize, reopened, ready_for_review, labeled; found "merged"`},
		{"action twice", "version: 1\non: {pull_request: [opened, opened]}\n", `f:2:29: on.pull_request: "opened" stands here twice`},

		{"order of the file", "version: 1\nagents: {run: [a, a, /]}\n", "f:2:19: agents.run: \"a\" stands here twice\n" + `f:2:22: agents.run: not the name of an agent (letters, digits, - and _): "/"`},

		{"duration without unit", "version: 1\nlimits: {timeout: 20}\n", "f:2:19: limits.timeout: want a duration greater than 0, such as 20m or 1h30m, found the number 20"},
		{"duration", "version: 1\nlimits: {timeout: soon}\n", `f:2:19: limits.timeout: want a duration greater than 0, such as 20m or 1h30m, found "soon"`},
		{"negative duration", "version: 1\nlimits: {timeout: -1m}\n", `f:2:19: limits.timeout: want a duration greater than 0, such as 20m or 1h30m, found "-1m"`},
		{"negative number", "version: 1\nlimits: {tokens: -4}\n", "f:2:18: limits.tokens: want a whole number of 0 or more, found the number -4"},
		{"fraction", "version: 1\nlimits: {runs_per_day: 1.5}\n", "f:2:24: limits.runs_per_day: want a whole number greater than 0, found the number 1.5"},
		{"number too large", "version: 1\nlimits: {tokens: 99999999999999999999}\n", "f:2:18: limits.tokens: want a whole number of 0 or more, found the number 99999999999999999999"},
		{"no amount", "version: 1\nlimits: {cost_usd: .nan}\n", "f:2:20: limits.cost_usd: want an amount greater than 0, found the number .nan"},
		{"no money", "version: 1\nlimits: {cost_usd_per_pr: 0}\n", "f:2:27: limits.cost_usd_per_pr: want an amount greater than 0, found the number 0"},

		{"glob", "version: 1\non: {paths_ignore: ['a[']}\n", `f:2:21: on.paths_ignore: not a pattern that can be read: "a["`},
		{"negated glob", "version: 1\non: {paths_ignore: ['!a']}\n", "f:2:21: on.paths_ignore: patterns cannot be negated"},
		{"absolute glob", "version: 1\non: {paths_ignore: [./docs/**]}\n", "f:2:21: on.paths_ignore: patterns begin at the top of the repository: leave out the leading ./"},
		{"costly glob", "version: 1\non: {paths_ignore: ['{a,b}{a,b}{a,b}']}\n", "f:2:21: on.paths_ignore: a pattern has at most 2 groups in braces and 30 commas; write several patterns"},
		{"empty command", "version: 1\ncommands: {test: ['']}\n", "f:2:19: commands.test: an empty command; an empty list [] leaves the step out"},
		{"zero byte", "version: 1\ncommands: {test: \"a\\0b\"}\n", "f:2:18: commands.test: a command with a zero byte"},
		{"agent", "version: 1\nagents: {run: [../x]}\n", `f:2:16: agents.run: not the name of an agent (letters, digits, - and _): "../x"`},
		{"agent name", "version: 1\nagents: {a b: {model: x}}\n", `f:2:10: agents: not the name of an agent (letters, digits, - and _): "a b"`},
		{"model is an address", "version: 1\nagents: {a: {model: 'http://x/y'}}\n", `f:2:21: agents.a.model: not the name of a model: "http://x/y"`},

		{"no port", "version: 1\nnetwork: {allow: [localhost]}\n", `f:2:19: network.allow: want host:port, such as localhost:5432; found "localhost"`},
		{"low port", "version: 1\nnetwork: {allow: ['localhost:80']}\n", `f:2:19: network.allow: ports below 1024 cannot be used inside the sandbox, found 80`},
		{"address", "version: 1\nnetwork: {allow: ['10.1.2.3:5432']}\n", `f:2:19: network.allow: "10.1.2.3" is an address of another machine, which cannot be taken over inside the sandbox: use a name`},
		{"one port twice", "version: 1\nnetwork: {allow: ['localhost:5432', '127.0.0.1:5432']}\n", `f:2:37: network.allow: "localhost:5432" and "127.0.0.1:5432" would both be 127.0.0.1:5432 for a command: give one another port`},
		{"port zero", "version: 1\nnetwork: {allow: ['localhost:0']}\n", `f:2:19: network.allow: want a port from 1 to 65535, found "0"`},
		{"port too large", "version: 1\nnetwork: {allow: ['localhost:65536']}\n", `f:2:19: network.allow: want a port from 1 to 65535, found "65536"`},
		{"any host", "version: 1\nnetwork: {allow: ['*:8080']}\n", `f:2:19: network.allow: want host:port, such as localhost:5432; found "*:8080"`},
		{"metadata service", "version: 1\nnetwork: {allow: ['169.254.169.254:80']}\n", `f:2:19: network.allow: "169.254.169.254" cannot be a service of the job`},
		{"metadata service in disguise", "version: 1\nnetwork: {allow: ['[::ffff:169.254.169.254]:80']}\n", `f:2:19: network.allow: "::ffff:169.254.169.254" cannot be a service of the job`},

		{"alias", "version: 1\nallow: &a write\nfail_on: *a\n", "f:3:10: fail_on: aliases are not read; write the value out"},
		{"alias for a number", "version: 1\nlimits: {tokens: &5 5, runs_per_day: *5}\n", "f:2:38: limits.runs_per_day: aliases are not read; write the value out"},
		{"merge key", "version: 1\non: &o {drafts: true}\npublish: {<<: *o}\n", "f:3:11: publish: merge keys are not read; write the keys out"},
		{"two documents", "version: 1\n---\nversion: 1\n", "f:2:1: a second YAML document; a configuration is one"},

		{"tab", "version: 1\n\tallow: write\n", "f:2:1: found a tab character that violates indentation (while scanning a plain scalar that begins at 1:10); YAML is indented with spaces, not with tabs"},
		{"colon in a text", "version: 1\ncommands:\n  test: make x: y\n", "f:3:15: mapping values are not allowed in this context; a text with \": \" in it needs quotes, and keys of one map begin in the same column"},
		{"tab below a key", "version: 1\ncommands:\n\ttest: x\n", "f:3:1: found character that cannot start any token (while scanning for the next token that begins at 3:1); YAML is indented with spaces, not with tabs"},
		{"unclosed", "version: 1\non: {drafts: true\nallow: write\n", "f:3:6: did not find expected ',' or '}' (while parsing a flow mapping that begins at 2:5)"},
		{"unclosed later", "version: 1\n---\na: [\n", "f:4:1: did not find expected node content (while parsing a flow node that begins at 4:1)"},
		{"unknown anchor", "version: 1\nallow: *nope\n", "f:2:8: unknown anchor 'nope' referenced"},
		{"not text", "version: 1\nenv: {A: \xff}\n", "f:2:10: not UTF-8 text"},
		{"control character", "version: 1\nenv: {A: \"ü\x1b\"}\n", "f:2:12: control character U+001B"},
		{"too large", strings.Repeat("#", MaxSize+1), "f: 262145 bytes; a configuration has at most 262144"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := Parse("f", []byte(test.file))
			if err == nil {
				t.Fatalf("read as %+v, want: %s", c, test.want)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// One reading reports everything, in the order of the file, and each problem can
// be had alone.
func TestAllProblemsTogether(t *testing.T) {
	t.Parallel()
	_, err := Parse(".github/ycbot.yml", []byte(`version: 1
limits: {timeout: 20, tokens: -1}
commands:
  tset: npm test
allow: all
env: {GH_TOKEN: x}
allow: all
`))
	want := ".github/ycbot.yml:2:19: limits.timeout: want a duration greater than 0, such as 20m or 1h30m, found the number 20\n" +
		".github/ycbot.yml:2:31: limits.tokens: want a whole number of 0 or more, found the number -1\n" +
		".github/ycbot.yml:4:3: commands.tset: unknown key; did you mean `commands.test`?\n" +
		".github/ycbot.yml:5:8: allow: want one of write, maintain, admin; found \"all\"\n" +
		".github/ycbot.yml:6:7: env.GH_TOKEN: looks like a credential; " + noSecrets + "\n" +
		".github/ycbot.yml:7:1: allow: given twice, first in line 5"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant:\n%s", err, want)
	}
	var one Problem
	if !errors.As(err, &one) || one.Line != 2 || one.Col != 19 || one.Key != "limits.timeout" {
		t.Errorf("first problem is %+v", one)
	}
}

// A file that is something else altogether does not fill the screen.
func TestManyProblemsAreCut(t *testing.T) {
	t.Parallel()
	_, err := Parse("f", []byte("version: 1\n"+strings.Repeat("? [x]\n: y\n", 1000)))
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 26 || lines[25] != "f: and 975 more problems" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// A file of nested aliases stands for more than any memory holds; it is refused
// without being expanded.
func TestBillionLaughs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("version: 1\nenv:\n  A: &a0 [x]\n")
	for i := 1; i < 60; i++ {
		prev := "*a" + string(rune('0'+(i-1)%10))
		b.WriteString("  A" + strings.Repeat("A", i) + ": &a" + string(rune('0'+i%10)) + " [" + strings.Repeat(prev+",", 9) + prev + "]\n")
	}
	_, err := Parse("f", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "env.AA: want text, found a list") {
		t.Errorf("err = %v", err)
	}
}

func TestWithLaysOver(t *testing.T) {
	t.Parallel()
	user, err := Parse("user", []byte("version: 1\nenv: {A: user, B: user}\nlimits: {cost_usd: 1, timeout: 1h}\nfail_on: never\n"+
		"agents: {review: {model: m}, run: [review]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	before := *user
	repo, err := user.With("repo", []byte("version: 1\nenv: {B: repo}\nlimits: {cost_usd: 5, timeout: 5m, tokens: 7}\non: {pull_request: []}\n"+
		"agents: {verification: {model: v}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.On.PullRequest = []PullRequestAction{}
	want.Env = map[string]string{"A": "user", "B": "repo"}
	want.Limits = Limits{Timeout: 5 * time.Minute, Tokens: 7, CostUSD: 1} // the lower of both
	want.FailOn = FailOnNever
	want.Agents = Agents{Run: []string{"review"}, Settings: map[string]Agent{"review": {Model: "m"}, "verification": {Model: "v"}}}
	if diff := cmp.Diff(want, repo); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&before, user); diff != "" || user.Env["B"] != "user" || len(user.Agents.Settings) != 1 {
		t.Errorf("the lower layer changed: %s %v", diff, user)
	}
}

func TestLimitsUnder(t *testing.T) {
	t.Parallel()
	repo := Limits{Timeout: time.Hour, Tokens: 10, CostUSD: 2}
	operator := Limits{Timeout: 30 * time.Minute, Tokens: 20, RunsPerDay: 99}
	want := Limits{Timeout: 30 * time.Minute, Tokens: 10, CostUSD: 2, CostUSDPerPR: 10, RunsPerDay: 99}
	if diff := cmp.Diff(want, repo.Under(operator)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(DefaultLimits(), Limits{}.Under(Limits{})); diff != "" {
		t.Error(diff)
	}
}

func TestIgnores(t *testing.T) {
	t.Parallel()
	on := On{PathsIgnore: []string{"docs/**", "*.md"}}
	for _, test := range []struct {
		paths []string
		want  bool
	}{
		{[]string{"docs/a/b.go", "README.md"}, true},
		{[]string{"docs/a/b.go", "main.go"}, false},
		{[]string{"sub/README.md"}, false},
		{nil, false},
	} {
		if got := on.Ignores(test.paths); got != test.want {
			t.Errorf("Ignores(%v) = %v", test.paths, got)
		}
	}
	either := On{PathsIgnore: []string{"{a,b}/*.txt"}}
	if !either.Ignores([]string{"a/x.txt", "b/y.txt"}) || either.Ignores([]string{"c/x.txt"}) || either.Ignores([]string{"a/x/y.txt"}) {
		t.Error("braces stand for either, a star for names within a folder")
	}
	if (On{}).Ignores([]string{"a"}) {
		t.Error("without patterns something is ignored")
	}
}

// What docs/config.md shows can be read, and names every key.
func TestDocsCanBeRead(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```yaml\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("no example")
	}
	for _, block := range blocks {
		example, _, _ := strings.Cut(block, "```")
		if _, err := Parse("docs/config.md", []byte(example)); err != nil {
			t.Errorf("%v\nin\n%s", err, example)
		}
	}
	for _, key := range Keys() {
		if !strings.Contains(string(page), "`"+key+"`") {
			t.Errorf("docs/config.md does not explain `%s`", key)
		}
	}
}

// Reading never panics, never returns a half-read file, and reports no problem
// without its place in the file.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		full, "", "---\n...\n", "version: 1\n", "version: 1\nallow: *x\n", "{version: 1, env: {A: !!binary aGk=}}", "? ? ? a\n", "[[[[",
		"version: 1\n<<: {a: b}\n", "version: 1\nlimits: {tokens: 0x10, cost_usd: 1e400, timeout: 1ns}\n", "version: 1\non: {paths_ignore: ['{a,[b-\\']}\n",
		"version: 1\nnetwork: {allow: ['[fe80::1%25eth0]:1', ':1', 'a:b:c']}\n", "version: 1\nagents: {run: {run: []}}\n", "\ufeff%YAML 1.1\n---\nversion: 1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f", data)
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v and error %v", c, err)
		}
		var all Problems
		if err == nil {
			c.Limits.Under(DefaultLimits())
			c.On.Ignores([]string{"a/b.go"})
			return
		}
		if !errors.As(err, &all) || len(all) == 0 {
			t.Fatalf("error of type %T", err)
		}
		for _, p := range all {
			if (p.Line < 1 || p.Col < 1) && len(data) <= MaxSize {
				t.Errorf("no place: %v", p)
			}
			if strings.ContainsAny(p.Error(), "\n\x1b") {
				t.Errorf("control characters: %q", p.Error())
			}
		}
	})
}

// The defaults of docs/config.md are those of the program.
func TestDefaultsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	d, l := Default(), DefaultLimits()
	if d.Expectations != "" || len(d.Commands.Test) != 0 || len(d.Env) != 0 || len(d.Guidance) != 0 || len(d.Machines) != 0 || len(d.Network.Allow) != 0 || len(d.On.PathsIgnore) != 0 || len(d.On.PullRequest) != 5 {
		t.Errorf("the defaults: %+v", d)
	}
	for key, value := range map[string]any{
		"on.drafts": d.On.Drafts, "on.outsiders": d.On.Outsiders, "allow": d.Allow, "agents.run": d.Agents.Run, "agents.verifiers": max(1, d.Agents.Verifiers),
		"limits.timeout": strings.TrimSuffix(l.Timeout.String(), "0s"), "limits.tokens": l.Tokens, "limits.cost_usd": l.CostUSD, "limits.cost_usd_per_pr": l.CostUSDPerPR,
		"limits.runs_per_day": l.RunsPerDay, "api": d.API, "fail_on": d.FailOn, "require_fail_to_pass": d.RequireFailToPass,
		"publish.comment": d.Publish.Comment, "publish.check": d.Publish.Check, "publish.annotations": d.Publish.Annotations,
	} {
		_, row, _ := strings.Cut(string(page), "\n| `"+key+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(row, " | ")
		if want := fmt.Sprintf("`%v`", value); len(cells) != 3 || cells[1] != want {
			t.Errorf("%s: the row is %q, want the default %s", key, row, want)
		}
	}
}
