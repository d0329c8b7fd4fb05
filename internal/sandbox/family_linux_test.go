package sandbox

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestBare holds that an empty environment is no other than one that is not laid out yet,
// in whichever moment of execve a process is looked at: what has none may be anyone's.
func TestBare(t *testing.T) {
	variants.Only(t) // each tool starts in it
	t.Parallel()
	ready := func(env []string, text string) string {
		t.Helper()
		cmd := exec.Command("/bin/sh", "-c", text)
		cmd.Env, cmd.Dir = env, t.TempDir()
		if err := os.WriteFile(filepath.Join(cmd.Dir, "again"), []byte("exec /bin/sh ./again\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed
		})
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		return "/proc/" + strconv.Itoa(cmd.Process.Pid)
	}
	const wait = "echo; kill -STOP $$"
	if !bare(ready([]string{}, wait)) {
		t.Error("an empty environment is not seen")
	}
	if bare(ready([]string{"A=1"}, wait)) {
		t.Error("an environment is not seen")
	}
	again := ready([]string{"A=1"}, "echo; exec /bin/sh ./again")
	for range 200_000 {
		if bare(again) {
			t.Fatal("an environment is not seen as the process becomes another program")
		}
	}
	if _, err := os.Stat(again + "/exe"); err != nil {
		t.Fatal(err)
	}
}
