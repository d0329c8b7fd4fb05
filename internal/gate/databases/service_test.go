package databases

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const workflowText = `on: push
env:
  GLOBAL_DB_HOST: db
jobs:
  a_lint:
    steps: [{run: make lint}]
  b_test:
    env:
      TOKEN: ${{ secrets.TOKEN }}
      PATH: /nowhere/redis
      PYTHONPATH: localhost:5433
      PGPASSWORD: ${{ secrets.DB }}
      NAME: plain
    services:
      db:
        image: postgis/postgis:${{ matrix.pg }}-3.4
        env: {POSTGRES_USER: shop, POSTGRES_PASSWORD: secret}
        ports: ["5433:5432"]
      cache:
        image: docker.io/library/redis@sha256:00
      search:
        image: elasticsearch:8
        ports: [9200]
    steps:
      - run: make test
        env:
          DATABASE_URL: postgres://shop:secret@db:${{ job.services.db.ports['5432'] }}/shop
          CACHE: redis://localhost:6379/0
  c_other:
    env: {MYSQL_HOST: 127.0.0.1, DATABASE_URL: another}
    services:
      db2: {image: "postgres:12"}
      my:
        image: mysql:8
        env: {MYSQL_ROOT_PASSWORD: "it's", MYSQL_DATABASE: shop}
        ports: ["13306:3306"]
`

func reader(files map[string]string) (func(string) ([]byte, error), []string) {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	return func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	}, names
}

// TestFind holds which services are found in workflow files, and which of a job's variables
// tests are given: those that name a service, and none that steers a program.
func TestFind(t *testing.T) {
	t.Parallel()
	const file = ".github/workflows/ci.yml"
	services, env := Find(reader(map[string]string{file: workflowText, ".github/workflows/bad.yaml": "jobs: [", "other/.github/workflows/x.yml": workflowText}))
	want := []Service{
		{Name: "cache", Kind: Redis, Image: "docker.io/library/redis@sha256:00", Port: 6379, From: file},
		{Name: "db", Kind: PostgreSQL, Image: "postgis/postgis:${{ matrix.pg }}-3.4", Port: 5433, User: "shop", Password: "secret", DB: "shop", From: file},
		{Name: "search", Image: "elasticsearch:8", From: file},
		{Name: "my", Kind: MySQL, Image: "mysql:8", Port: 13306, User: "root", Password: "it's", DB: "shop", From: file},
	}
	if diff := cmp.Diff(want, services); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	wantEnv := []string{
		"CACHE=redis://localhost:6379/0", "DATABASE_URL=postgres://shop:secret@localhost:5433/shop", "GLOBAL_DB_HOST=localhost", "MYSQL_HOST=127.0.0.1",
	}
	if diff := cmp.Diff(wantEnv, env); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	services, env = Find(reader(map[string]string{file: "jobs: {a: {services: {db: {image: 'postgres:16', env: {POSTGRES_DB: 'a\"; DROP'}}}}}"}))
	if len(services) != 1 || services[0].Kind != "" || len(env) > 0 {
		t.Errorf("what does not belong into SQL: %+v %v", services, env)
	}
}

// TestBeside holds that a command finds the services ready, that they end with it, and that
// its exit code and output are its own.
func TestBeside(t *testing.T) {
	t.Parallel()
	lookup := func(name string) string {
		at, err := exec.LookPath(name)
		if err != nil {
			return ""
		}
		return at
	}
	for name, tc := range map[string]struct {
		service Service
		ask     string
	}{
		"PostgreSQL": {Service{Kind: PostgreSQL, Port: 54329, User: "shop", DB: "shop_test"}, `psql -At "postgres://shop:any@localhost:54329/shop_test" -c 'SELECT 40 + 2'`},
		"Redis":      {Service{Kind: Redis, Port: 63799}, `exec 3<>/dev/tcp/127.0.0.1/63799; printf 'INCRBY n 42\r\n' >&3; read -r line <&3; echo "${line//[^0-9]/}"`},
		"MySQL":      {Service{Kind: MySQL, Port: 33069, User: "shop", Password: "it's", DB: "shop"}, `mysql --no-defaults -N -h 127.0.0.1 -P 33069 -u shop -p"it's" shop -e 'SELECT 40 + 2'`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs, missing := tc.service.Kind.Programs(lookup)
			if missing != "" || name == "PostgreSQL" && lookup("psql") == "" || name == "MySQL" && lookup("mysql") == "" {
				t.Skip(name + " is needed")
			}
			if os.Geteuid() == 0 && name != "Redis" {
				t.Skip("its server refuses to run as root; the gate's scenario runs it")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			argv := Beside([]string{"bash", "-c", tc.ask + "; exit 7"}, []Started{{tc.service, programs}})
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
			out, err := cmd.Output()
			ended := new(exec.ExitError)
			if !errors.As(err, &ended) || ended.ExitCode() != 7 || strings.TrimSpace(string(out)) != "42" {
				t.Errorf("%v: %q", err, out)
				if ended != nil {
					t.Logf("%s", ended.Stderr)
				}
			}
		})
	}
}

// TestPrograms holds what is named where a server is not there.
func TestPrograms(t *testing.T) {
	t.Parallel()
	have := func(names ...string) func(string) string {
		return func(name string) string {
			for _, n := range names {
				if n == name {
					return "/bin/" + n
				}
			}
			return ""
		}
	}
	for what, tc := range map[string]struct {
		kind    Kind
		have    func(string) string
		missing string
	}{
		"nothing":                {PostgreSQL, have(), "initdb"},
		"a client alone":         {PostgreSQL, have("psql", "initdb"), "postgres"},
		"Valkey for Redis":       {Redis, have("valkey-server"), ""},
		"MySQL":                  {MySQL, have("mysqld"), ""},
		"half of MariaDB":        {MySQL, have("mariadbd"), "install-db"},
		"MariaDB for MySQL":      {MySQL, have("mariadbd", "mariadb-install-db"), ""},
		"no MySQL and no client": {MySQL, have("mysql"), "mysqld"},
	} {
		if _, missing := tc.kind.Programs(tc.have); missing != tc.missing {
			t.Errorf("%s: %q is missing, want %q", what, missing, tc.missing)
		}
	}
}
