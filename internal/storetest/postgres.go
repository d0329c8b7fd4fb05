//go:build unix

// Package storetest gives tests a database.
package storetest

import (
	"context"
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

// Postgres starts a PostgreSQL of the test's own and returns its address, or skips the test
// where its binaries are not. It has a socket in a folder of its own and no network, and ends
// with its standard input, and so with the test.
func Postgres(tb testing.TB) string {
	tb.Helper()
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		tb.Skip("no PostgreSQL binaries in /usr/lib/postgresql")
	}
	dir, err := os.MkdirTemp("/tmp", "ycbot-pg") //nolint:usetesting // a socket's path is short
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), "sh", "-c", startPostgres, "sh", bins[len(bins)-1], dir)
	cmd.Dir = dir
	if os.Getuid() == 0 { // initdb refuses to be root
		who, err := user.Lookup("postgres")
		if err != nil {
			tb.Skipf("no user postgres: %v", err)
		}
		uid, uidErr := strconv.ParseUint(who.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(who.Gid, 10, 32)
		if uidErr != nil || gidErr != nil || os.Chown(dir, int(uid), int(gid)) != nil {
			tb.Fatal("the folder cannot be given to the user postgres")
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	url := "postgres://ycbot@/postgres?host=" + dir
	patience, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for {
		conn, err := pgx.Connect(patience, url)
		if err == nil {
			_ = conn.Close(context.Background())
			return url
		}
		if patience.Err() != nil {
			tb.Fatalf("PostgreSQL does not start: %v", err)
		}
		<-pause.C
	}
}

// Database makes a database on a server that Postgres started.
func Database(tb testing.TB, server, name string) string {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), server)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(tb.Context(), "create database "+name); err != nil {
		tb.Fatal(err)
	}
	return strings.Replace(server, "/postgres?", "/"+name+"?", 1)
}
