package node

import (
	"encoding/json"
	"testing"
)

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
