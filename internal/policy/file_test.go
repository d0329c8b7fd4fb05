package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Rules keep their order and know their lines.
func TestParseFiles(t *testing.T) {
	t.Parallel()
	got, err := ParseFiles(
		File{Name: "a", Data: []byte("\ufeff{\"permissions\": {\n  \"deny\": [\"Bash(rm *)\",\n    \" Read ( a(b) ) \"],\n  \"allow\": [\"Fetch(https://x/*)\"], \"ask\": []\n}}\n")},
		File{Name: "b", Data: []byte(`{"permissions":{"ask":["MCP(*)"]}}`), Operator: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []Rule{
		{Action: Deny, Name: "Bash", Pattern: "rm *", File: "a", Line: 2},
		{Action: Deny, Name: "Read", Pattern: "a(b)", File: "a", Line: 3},
		{Action: Allow, Name: "Fetch", Pattern: "https://x/*", File: "a", Line: 4},
		{Action: Ask, Name: "MCP", Pattern: "*", File: "b", Line: 1, Operator: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A file that cannot be meant is an error with its line, never a file without rules.
func TestMalformedFiles(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"":                                "f:1: it ends too early",
		" \n\t":                           "f:1: it ends too early",
		"{":                               "f:1: it ends too early",
		"{}":                              "f:1: the key permissions is missing",
		"[]":                              "f:1: the file is not an object",
		"nonsense":                        "f:1: invalid character 'o' in literal null (expecting 'u')",
		"{\"permissions\":[]}":            "f:1: permissions is not an object",
		"{\n\"allow\":[]}":                "f:2: unknown key \"allow\"; there is permissions",
		"{\"permissions\":{\n\"denny\":[": "f:2: unknown key \"denny\"; there are allow, ask and deny",
		"{\"permissions\":{\"deny\":[],\n\"deny\":[]}}":             "f:2: the key \"deny\" comes twice",
		"{\"permissions\":{\"deny\":\"Bash(rm)\"}}":                 "f:1: deny is not a list",
		"{\"permissions\":{\"deny\":[\n\n1]}}":                      "f:3: an entry of deny is not a string",
		"{\"permissions\":{\"deny\":[\n\"Bash rm\"]}}":              "f:2: \"Bash rm\" is not a rule; one looks like Bash(rm *)",
		"{\"permissions\":{\"deny\":[\"Bash( )\"]}}":                "f:1: \"Bash( )\" has no pattern; * stands for everything",
		"{\"permissions\":{\"deny\":[\"Read(a[)\"]}}":               "f:1: \"Read(a[)\": the pattern is not valid",
		"{\"permissions\":{\"deny\":[\n\"Bash({curl,wget *)\"]}}":   "f:2: \"Bash({curl,wget *)\": the pattern is not valid",
		"{\"permissions\":{\"deny\":[\"Fetch(https://a,b}/*)\"]}}":  "f:1: \"Fetch(https://a,b}/*)\": the pattern is not valid",
		"{\"permissions\":{\"deny\":[\"Shell(x)\"]}}":               "f:1: \"Shell(x)\": there is no kind of rule called Shell; there are Read, List, Glob, Grep, Write, Edit, Mkdir, Copy, Move, Delete, Bash, Tests, Fetch, Git, Github, Rollback, Worktree, Memory, MCP, Browser, Document, Media",
		"{\"permissions\":{\"deny\":[\"Bash(rm)\"]}} {}":            "f:1: there is something after the end",
		"{\"permissions\":{\"deny\":[\"Bash(rm)\",]}}":              "f:1: invalid character ']' looking for beginning of value",
		"{\"permissions\":{\"deny\":[\"Bash(rm)\"]\n":               "f:1: it ends too early",
		"{\"permissions\":{\"deny\":[\"Bash(\xff)\"]}}":             "f:1: it is not UTF-8",
		"{\"permissions\":{\"deny\":[\"Bash(rm)\"]}}\n// a comment": "f:2: there is something after the end",
	} {
		rules, err := ParseFiles(File{Name: "f", Data: []byte(data)})
		var bad *FileError
		if !errors.As(err, &bad) || err.Error() != want || rules != nil {
			t.Errorf("%s\n got %v %v\nwant %s", data, rules, err, want)
		}
	}
}

// Lint reports rules that do not do what they seem to.
func TestLint(t *testing.T) {
	t.Parallel()
	got := Lint(rules(t, true,
		"allow Bash(*)", "allow Bash(go test*)", "allow Bash(git *)", "allow Bash(npm test)", "allow Bash(* --help)", "allow Write(**)", "allow Memory(x)", "allow Fetch(https://*)", "allow Fetch(https://pkg.go.dev/*)",
		"ask Bash(npm *)", "ask Read(docs/**)", "deny Bash(npm publish*)", "deny Bash(npm publish --dry*)", "deny Read(*.key)", "deny Read(docs/a/*)", "deny Read(docs/a/*)", "deny Edit(x)"))
	want := []string{
		"allow Bash(*): it is very broad: it allows everything",
		"allow Bash(go test*): it is part of allow Bash(*) (permissions.json:1)",
		"allow Bash(git *): it is very broad: git runs what its arguments say",
		"allow Bash(git *): it is part of allow Bash(*) (permissions.json:1)",
		"allow Bash(npm test): it is part of allow Bash(*) (permissions.json:1)",
		"allow Bash(* --help): it is very broad: it allows commands of every kind",
		"allow Bash(* --help): it is part of allow Bash(*) (permissions.json:1)",
		"allow Write(**): it has no effect: tools that write are never given, whatever is allowed",
		"allow Memory(x): it has no effect: ycbot has no such tool",
		"allow Fetch(https://*): it is very broad: it allows every host",
		"allow Fetch(https://pkg.go.dev/*): it is part of allow Fetch(https://*) (permissions.json:1)",
		"deny Bash(npm publish --dry*): it is part of deny Bash(npm publish*) (permissions.json:1)",
		"deny Read(*.key): it matches in the root of the project alone; **/*.key matches everywhere",
		"deny Read(docs/a/*): it is part of deny Read(docs/a/*) (permissions.json:1)",
		"deny Edit(x): it changes nothing: no agent is given a tool that writes",
	}
	for i := range want {
		want[i] = "permissions.json:1: " + want[i]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for rule, want := range map[string]string{
		"deny Read(../x)":              "../x matches nothing: paths are those of the project, and agents read nothing above its root",
		"deny Grep(./../x/**)":         "./../x/** matches nothing: paths are those of the project, and agents read nothing above its root",
		"deny List(..)":                ".. matches nothing: paths are those of the project, and agents read nothing above its root",
		"deny Read(a/../../x)":         "a/../../x matches nothing: paths are those of the project, and agents read nothing above its root",
		"deny Read({docs,../docs}/**)": "../docs/** matches nothing: paths are those of the project, and agents read nothing above its root",
		"deny Read(a/../b)":            "a/../b does not match what it names: paths of the project have no .. in them",
		"deny Read(a..b/...)":          "",
		"deny Read(./a/**)":            "",
	} {
		if want != "" {
			want = "permissions.json:1: " + rule + ": " + want
		}
		if got := strings.Join(Lint(rules(t, true, rule)), "\n"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	shadowed := Lint(rules(t, true, "allow Bash(npm test)", "ask Bash(npm *)"))
	if diff := cmp.Diff([]string{"permissions.json:1: allow Bash(npm test): it never counts: ask Bash(npm *) (permissions.json:1) comes first"}, shadowed); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
