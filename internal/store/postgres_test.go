package store

import (
	"context"
	"fmt"
	"io"
	"log/slog"
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

// server is the PostgreSQL of this test binary.
var server postgresServer

func TestMain(m *testing.M) {
	if role := os.Getenv("YCBOT_TEST_ROLE"); role != "" {
		os.Exit(child(role))
	}
	code := m.Run()
	server.stop()
	os.Exit(code)
}

// A postgresServer is private: a socket in a directory of its own, no network. It ends
// with its standard input, and so with the test, however that ends.
type postgresServer struct {
	once  sync.Once
	err   error
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
	count atomic.Int32
}

const startPostgres = `"$1/initdb" -D "$2/data" -A trust -U ycbot --no-sync >"$2/initdb.log" 2>&1 || { cat "$2/initdb.log" >&2; exit 1; }
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c max_connections=200 >"$2/log" 2>&1 &
pid=$!
cat >/dev/null
kill -INT $pid
wait $pid
cd / && rm -rf "$2"`

func (s *postgresServer) start() error {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		return fmt.Errorf("no PostgreSQL binaries in /usr/lib/postgresql: %w", os.ErrNotExist)
	}
	slices.Sort(bins)
	if s.dir, err = os.MkdirTemp("/tmp", "ycbot-pg"); err != nil { // a socket's path is short
		return err
	}
	s.cmd = exec.Command("sh", "-c", startPostgres, "sh", bins[len(bins)-1], s.dir)
	s.cmd.Dir = s.dir
	if os.Getuid() == 0 { // initdb refuses to be root
		if err := s.unprivileged(); err != nil {
			return err
		}
	}
	var output strings.Builder
	s.cmd.Stderr = &output
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	deadline, pause := time.Now().Add(60*time.Second), time.NewTicker(20*time.Millisecond)
	defer pause.Stop()
	for {
		conn, err := pgx.Connect(context.Background(), s.url("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("PostgreSQL does not start: %w %s", err, output.String())
		}
		<-pause.C
	}
}

func (s *postgresServer) unprivileged() error {
	who, err := user.Lookup("postgres")
	if err != nil {
		return err
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

func (s *postgresServer) url(database string) string {
	return fmt.Sprintf("postgres://ycbot@/%s?host=%s", database, s.dir)
}

func (s *postgresServer) stop() {
	if s.stdin != nil {
		_ = s.stdin.Close()
		_ = s.cmd.Wait()
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// database makes an empty database and returns its URL; the test is skipped where
// there is no PostgreSQL.
func (s *postgresServer) database(t *testing.T) string {
	t.Helper()
	s.once.Do(func() { s.err = s.start() })
	if s.err != nil {
		t.Skipf("needs PostgreSQL: %v", s.err)
	}
	name := "d" + strconv.Itoa(int(s.count.Add(1)))
	conn, err := pgx.Connect(t.Context(), s.url("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "create database "+name); err != nil {
		t.Fatal(err)
	}
	return s.url(name)
}

// onBoth runs test on an empty database of either kind. where names it, for [openAt].
func onBoth(t *testing.T, test func(t *testing.T, where string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, filepath.Join(t.TempDir(), "db")) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, server.database(t)) })
}

// openAt opens and migrates the database at where.
func openAt(t *testing.T, where string) *DB {
	t.Helper()
	db, err := openWhere(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openWhere(ctx context.Context, where string) (*DB, error) {
	o := Options{Path: where, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	if isPostgres(where) {
		o.URL, o.Path = where, ""
	}
	db, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return db, db.Migrate(ctx)
}
