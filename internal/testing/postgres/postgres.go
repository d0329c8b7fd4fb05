//go:build unix

// Package storetest gives tests a database.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Server is a PostgreSQL that begins with the first database that a test asks for. It has
// a socket in a folder of its own and no network, and ends with its standard input, and so
// with the program that started it, however that ends.
type Server struct {
	// Prepare fills a database that each other one begins as a copy of, and closes it. Nil: each begins empty.
	Prepare func(ctx context.Context, url string) error

	once  sync.Once
	err   error
	dir   string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	count atomic.Int32
}

// Postgres makes an empty database on a server of the test's own and returns its address.
func Postgres(tb testing.TB) string {
	tb.Helper()
	s := new(Server)
	tb.Cleanup(s.Stop)
	return s.Database(tb)
}

// Database makes a database and returns its address; the test is skipped where there is no
// PostgreSQL.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	s.once.Do(func() {
		if s.err = s.start(); s.err == nil && s.Prepare != nil {
			s.err = s.prepare()
		}
	})
	switch {
	case errors.Is(s.err, errMissing):
		tb.Skipf("needs PostgreSQL: %v", s.err)
	case s.err != nil:
		tb.Fatal(s.err)
	}
	name := "d" + strconv.Itoa(int(s.count.Add(1)))
	statement := "create database " + name
	if s.Prepare != nil {
		statement += " template prepared"
	}
	if err := s.exec(tb.Context(), statement); err != nil {
		tb.Fatal(err)
	}
	return s.url(name)
}

// prepare makes the database that others are copies of.
func (s *Server) prepare() error {
	if err := s.exec(context.Background(), "create database prepared"); err != nil {
		return err
	}
	return s.Prepare(context.Background(), s.url("prepared"))
}

func (s *Server) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(ctx, statement)
	return err
}

// Stop ends the server, if it began.
func (s *Server) Stop() {
	if s.stdin != nil {
		_ = s.stdin.Close()
		_ = s.cmd.Wait()
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// errMissing says that this machine lacks what a server needs.
var errMissing = errors.New("it is not installed")

// No test takes the machine away, so that nothing has to reach the disk.
const startPostgres = `"$1/initdb" -D "$2/data" -A trust -U ycbot --no-sync >"$2/initdb.log" 2>&1 || { cat "$2/initdb.log" >&2; exit 1; }
begin() {
	"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c max_connections=400 -c fsync=off -c full_page_writes=off >>"$2/log" 2>&1 </dev/null &
	pid=$!
}
begin "$@"
while read -r order; do
	case $order in
	stop) kill -INT $pid; wait $pid ;;
	start) begin "$@" ;;
	esac
done
kill -INT $pid 2>/dev/null
wait $pid
cd / && rm -rf "$2"`

// Away stops the server, as its restart does, until Back.
func (s *Server) Away(tb testing.TB) {
	tb.Helper()
	s.order(tb, "stop", false)
}

// Back starts the server again after Away.
func (s *Server) Back(tb testing.TB) {
	tb.Helper()
	s.order(tb, "start", true)
}

// Log is the file that the server logs to.
func (s *Server) Log() string { return filepath.Join(s.dir, "log") }

// order gives an order and waits until the server answers, or does not.
func (s *Server) order(tb testing.TB, what string, answers bool) {
	tb.Helper()
	if _, err := io.WriteString(s.stdin, what+"\n"); err != nil {
		tb.Fatal(err)
	}
	patience, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		conn, err := pgx.Connect(patience, s.url("postgres"))
		if err == nil {
			_ = conn.Close(patience)
		}
		if patience.Err() != nil {
			tb.Fatalf("PostgreSQL does not %s: %v", what, err)
		}
		if (err == nil) == answers {
			return
		}
		<-pause.C
	}
}

func (s *Server) start() error {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		return fmt.Errorf("%w in /usr/lib/postgresql", errMissing)
	}
	slices.Sort(bins)
	if s.dir, err = os.MkdirTemp("/tmp", "ycbot-pg"); err != nil { // a socket's path is short
		return err
	}
	s.cmd = exec.CommandContext(context.Background(), "sh", "-c", startPostgres, "sh", bins[len(bins)-1], s.dir)
	s.cmd.Dir = s.dir
	if os.Getuid() == 0 { // initdb refuses to be root
		if err := s.unprivileged(); err != nil {
			return err
		}
	}
	var output strings.Builder
	s.cmd.Stderr = &output
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.stdin = stdin
	patience, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		conn, err := pgx.Connect(patience, s.url("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		if patience.Err() != nil {
			s.Stop() // ends what writes to output
			s.stdin = nil
			return fmt.Errorf("PostgreSQL does not start: %w %s", err, output.String())
		}
		<-pause.C
	}
}

func (s *Server) unprivileged() error {
	who, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("%w: %w", errMissing, err)
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return err
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return os.Chown(s.dir, int(uid), int(gid))
}

func (s *Server) url(database string) string {
	return fmt.Sprintf("postgres://ycbot@/%s?host=%s", database, s.dir)
}
