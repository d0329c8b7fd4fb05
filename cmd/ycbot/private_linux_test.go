package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// While the program works, its environment shows no secret, not even to root;
// what is no secret stays.
func TestEnvironIsPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeChange(t, dir+"/repo", map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {test: sh test.sh}\n",
		"test.sh":           fmt.Sprintf("for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ >>%s/seen 2>/dev/null; done; true\n", dir),
	}, map[string]string{"more": "x\n"})
	cmd := realProgram(t, dir+"/home", "run", "-C", dir+"/repo", "--sandbox", "none")
	cmd.Env = append(cmd.Env, "GH_TOKEN=ghp_0123456789secret", "YCBOT_API_KEY=sk-0123456789secret", "DATABASE_URL=postgres://u:hunter2hunter2@h/db", "HARMLESS=0123456789plain")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen, err := os.ReadFile(dir + "/seen")
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"0123456789secret", "hunter2hunter2"} {
		if bytes.Contains(seen, []byte(secret)) {
			t.Errorf("a command of the change saw %s", secret)
		}
	}
	if os.Geteuid() == 0 && !strings.Contains(string(seen), "HARMLESS=0123456789plain") {
		t.Errorf("the program's environment was not among what was seen: the test shows nothing")
	}
}
