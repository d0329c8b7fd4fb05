package node

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestFilesAsTests holds by what versions of Node.js say of a file that is not loaded, and of a
// helper that is called like one of tests, that both are files and no tests.
func TestFilesAsTests(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is needed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "test", "a.test.js"), "")
	put(t, filepath.Join(dir, "test", "kit.js"), "")
	for version, tt := range map[string]struct{ stderr, name, at string }{
		"20": {"DIR/test/a.test.js", "DIR/test/a.test.js", `"file": "DIR/test/a.test.js"`},
		"21": {"test/a.test.js", "test/a.test.js", `"other": 1`},
		"24": {"test/a.test.js", "test/a.test.js", `"file": "DIR/test/a.test.js", "line": 1, "column": 1`},
	} {
		fails := `"details": {"error": {"failureType": "testCodeFailure", "cause": "test failed"}}`
		events := `[{"type": "test:stderr", "data": {"file": "` + tt.stderr + `", "message": "SyntaxError: no\n"}},
			{"type": "test:fail", "data": {"name": "` + tt.name + `", "nesting": 0, ` + tt.at + `, ` + fails + `}},
			{"type": "test:pass", "data": {"name": "` + strings.ReplaceAll(tt.name, "a.test", "kit") + `", "nesting": 0, ` + strings.ReplaceAll(tt.at, "a.test", "kit") + `}},
			{"type": "test:pass", "data": {"name": "test/kit.js", "nesting": 0, "file": "DIR/test/kit.js", "line": 3, "column": 1}}]`
		put(t, filepath.Join(dir, "zz.mjs"), `import report from "`+escapeReporter(nodeReporter)+`";
			for await (const line of report((async function* () { yield* `+strings.ReplaceAll(events, "DIR", dir)+` })())) process.stdout.write(line)`)
		cmd := exec.CommandContext(t.Context(), node, "zz.mjs")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		c := results.Numbered(results.ParseNodeTest)(".")
		if _, err := c.Write(out); err != nil {
			t.Fatal(err)
		}
		s := c.Suite("E1", dir)
		if f := s[results.ID{Unit: ".", Package: "test/a.test.js"}]; !f.Broken || !strings.Contains(f.Output, "SyntaxError: no") {
			t.Errorf("Node.js %s: %+v", version, s)
		}
		if own := s[results.ID{Unit: ".", Package: "test/kit.js", Test: "test/kit.js"}]; own.Status != results.Passed || len(s) != 3 {
			t.Errorf("Node.js %s: %+v", version, s)
		}
	}
}

// TestInstallsAlone holds of which manifests alone it follows what is installed.
func TestInstallsAlone(t *testing.T) {
	t.Parallel()
	for scripts, want := range map[string]bool{`{}`: true, `{"scripts": {"test": "x"}}`: true, `{"scripts": {"prepare": "tsc"}}`: false, `{"dependencies": {"a": "file:../a"}}`: false, `{"dependencies": {"a": "^1.0.0"}}`: true} {
		var m manifest
		if err := json.Unmarshal([]byte(scripts), &m); err != nil || m.installsAlone() != want {
			t.Errorf("%s: %v, %v", scripts, !want, err)
		}
	}
}

// TestOnlyOfTests holds which packages of a tree are there for the tests of another one alone.
func TestOnlyOfTests(t *testing.T) {
	t.Parallel()
	const published, private = `{"name": "oracle"}`, `{"name": "oracle", "private": true}`
	for name, tt := range map[string]struct {
		own, top string
		want     bool
	}{
		"for development": {published, `{"devDependencies": {"oracle": "file:tools/oracle"}}`, true},
		"of a workspace":  {private, `{"workspaces": ["tools/*"], "devDependencies": {"oracle": "workspace:*"}}`, true},
		"published":       {published, `{"workspaces": ["tools/*"], "devDependencies": {"oracle": "workspace:*"}}`, false},
		"for all":         {private, `{"dependencies": {"oracle": "file:tools/oracle"}}`, false},
		"both":            {private, `{"devDependencies": {"oracle": "*"}, "peerDependencies": {"oracle": "*"}}`, false},
		"not at all":      {private, `{"workspaces": ["tools/*"]}`, false},
		"no manifest":     {private, `{`, false},
	} {
		files := map[string]string{"package.json": tt.top, "tools/oracle/package.json": tt.own}
		read := func(name string) []byte {
			if text, ok := files[name]; ok {
				return []byte(text)
			}
			return nil
		}
		if got := onlyOfTests("tools/oracle/lib/index.js", read); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if onlyOfTests("lib/index.js", read) {
			t.Errorf("%s: the package itself", name)
		}
	}
}

// TestAbsentInNode holds what a message says is missing.
func TestAbsentInNode(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"Error: Cannot find module '../lib/vat.js'\nRequire stack:\n- /w/test/vat.test.js": "vat",
		"Error: Cannot find module '..'\nRequire stack:\n- /w/vat/test/vat.test.js\n- /w":  "vat",
		"Error: Cannot find module '.'\nRequire stack:\n- /w/vat/all.test.js":              "vat",
		"Error: Cannot find module 'left-pad'\nRequire stack:\n- /w/vat/all.test.js":       "left-pad",
		"TypeError: shop.round is not a function":                                          "round",
		"AssertionError: 1 != 2": "",
	} {
		if got, _ := absentInNode(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
