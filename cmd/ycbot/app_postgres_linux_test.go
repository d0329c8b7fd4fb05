package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const startPostgres = `"$1/initdb" -D "$2/data" -A trust -U ycbot --no-sync >/dev/null 2>&1 || exit 1
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= >/dev/null 2>&1 &
pid=$!
cat >/dev/null
kill -INT $pid
wait $pid`

// newPostgres starts a PostgreSQL of the test's own, with a socket in a folder of its own.
// It ends with its standard input, and so with the test.
func newPostgres(t *testing.T) string {
	t.Helper()
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		t.Skip("no PostgreSQL binaries in /usr/lib/postgresql")
	}
	dir, err := os.MkdirTemp("/tmp", "ycbot-pg") //nolint:usetesting // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", startPostgres, "sh", bins[len(bins)-1], dir)
	cmd.Dir = dir
	if os.Getuid() == 0 { // initdb refuses to be root
		who, err := user.Lookup("postgres")
		if err != nil {
			t.Skipf("no user postgres: %v", err)
		}
		uid, uidErr := strconv.ParseUint(who.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(who.Gid, 10, 32)
		if uidErr != nil || gidErr != nil || os.Chown(dir, int(uid), int(gid)) != nil {
			t.Fatal("the folder cannot be given to the user postgres")
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	url := "postgres://ycbot@/postgres?host=" + dir
	deadline, pause := time.Now().Add(60*time.Second), time.NewTicker(50*time.Millisecond)
	defer pause.Stop()
	for {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(context.Background())
			return url
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL does not start: %v", err)
		}
		<-pause.C
	}
}

// On PostgreSQL a server only receives, and a worker on another machine goes on with the run of
// one that was killed: one check run, one comment, and no question is asked of the model
// twice.
func TestAppAnotherWorkerGoesOn(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.database = newPostgres(t)
	h.script = filepath.Join(t.TempDir(), "script")
	write(t, h.script, appScript)
	h.hold += "-probe"
	h.held(t)
	h.start(t, "--no-work")
	work := func() (*process, string) {
		data := t.TempDir()
		p := h.launch(t, "app", "work", "--sandbox", "none", "--data", data)
		p.wait(t, "msg=working")
		return p, data
	}
	first, _ := work()
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.started(t)
	first.end(t, syscall.SIGKILL) // before anything else could be copied
	h.release(t)
	second, data := work()
	second.wait(t, "run has ended", "state=finished")
	if checks, comments := h.checks(); len(checks) != 1 || !strings.HasPrefix(checks[0], "check ycbot completed ") || strings.Contains(checks[0], "cancelled") || comments != 1 {
		t.Errorf("people see\n%s", h.outcome())
	}
	dirs, err := filepath.Glob(filepath.Join(data, "runs/acme/sums", fmt.Sprint(h.pull), "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("run directories %q, want one", dirs)
	}
	askedOnce(t, dirs[0])
}
