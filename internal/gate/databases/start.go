package databases

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Programs finds the programs that start a service of a kind, by name, with lookup, which
// returns "" for what is not there; the last result names what is missing, if anything is.
func (k Kind) Programs(lookup func(name string) string) (map[string]string, string) {
	first := func(names ...string) string {
		for _, n := range names {
			if at := lookup(n); at != "" {
				return at
			}
		}
		return ""
	}
	found := map[string]string{}
	switch k {
	case PostgreSQL:
		found["initdb"], found["postgres"] = lookup("initdb"), lookup("postgres")
	case Redis:
		found["redis-server"] = first("redis-server", "valkey-server")
	case MySQL:
		found["mysqld"] = first("mariadbd", "mysqld")
		if filepath.Base(found["mysqld"]) == "mariadbd" {
			found["install-db"] = first("mariadb-install-db", "mysql_install_db")
		}
	}
	for _, name := range []string{"initdb", "postgres", "redis-server", "mysqld", "install-db"} {
		if at, asked := found[name]; asked && at == "" {
			return nil, name
		}
	}
	return found, ""
}

// A Started is a service with the programs that start it.
type Started struct {
	Service
	Programs map[string]string // by what they are for, see [Kind.Programs]
}

// begin makes a folder for what services write, and has what follows wait for them.
const begin = `dir=$(mktemp -d) || exit 1
ready() { # what, its log, what it writes when it is
	for n in $(seq 600); do
		grep -q "$3" "$2" 2>/dev/null && return 0
		sleep 0.05
	done
	echo "$1 did not start:" >&2
	tail -n 5 "$2" >&2
}
`

// end runs the command, and ends with its exit code.
const end = `"$@"
code=$?
kill -KILL $(jobs -p) 2>/dev/null
wait 2>/dev/null
for n in $(seq 20); do # processes of a server that was killed write for a moment yet
	rm -rf "$dir" 2>/dev/null && break
	sleep 0.05
done
exit $code
`

// Beside is argv in a shell that starts services, each with nothing in it but the database
// that the project asks for, waits until they are ready, and ends them with argv. They
// listen on the loopback interface.
func Beside(argv []string, services []Started) []string {
	if len(services) == 0 {
		return argv
	}
	text := begin
	for _, s := range services {
		text += s.script()
	}
	return append([]string{"bash", "--noprofile", "--norc", "-c", text + end, "bash"}, argv...)
}

func (s Started) script() string {
	at := func(name string) string { return quote(s.Programs[name]) }
	switch s.Kind {
	case PostgreSQL:
		return fmt.Sprintf(`%[1]s -D "$dir/pg" -U %[3]s --auth=trust --encoding=UTF8 --no-sync >"$dir/pg.log" 2>&1
[ %[4]s = postgres ] || printf 'CREATE DATABASE "%%s"\n' %[4]s | %[2]s --single -D "$dir/pg" postgres >>"$dir/pg.log" 2>&1
%[2]s -D "$dir/pg" -p %[5]d -k "$dir" -c listen_addresses=localhost -c fsync=off -c synchronous_commit=off -c full_page_writes=off >>"$dir/pg.log" 2>&1 </dev/null &
ready PostgreSQL "$dir/pg.log" "ready to accept connections"
`, at("initdb"), at("postgres"), quote(s.User), quote(s.DB), s.Port)
	case Redis:
		return fmt.Sprintf(`%s --port %d --bind 127.0.0.1 --save '' --appendonly no --dir "$dir" >"$dir/redis.log" 2>&1 </dev/null &
ready Redis "$dir/redis.log" "[Rr]eady to accept connections"
`, at("redis-server"), s.Port)
	case MySQL:
		first := fmt.Sprintf(`%s --no-defaults --initialize-insecure --datadir="$dir/my"`, at("mysqld"))
		more := " --mysqlx=OFF"
		if s.Programs["install-db"] != "" {
			first = fmt.Sprintf(`%s --no-defaults --datadir="$dir/my" --auth-root-authentication-method=normal --skip-test-db`, at("install-db"))
			more = ""
		}
		return fmt.Sprintf(`printf '%%s\n' %[1]s >"$dir/my.sql"
%[2]s >"$dir/my.log" 2>&1
%[3]s --no-defaults --datadir="$dir/my" --port=%[4]d --socket="$dir/my.sock" --bind-address=127.0.0.1 --skip-log-bin%[5]s --init-file="$dir/my.sql" >>"$dir/my.log" 2>&1 </dev/null &
ready MySQL "$dir/my.log" "ready for connections"
`, quote(s.sql()), first, at("mysqld"), s.Port, more)
	}
	return ""
}

// sql makes the database and the user, one statement a line.
func (s Service) sql() string {
	secret := "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\n", "").Replace(s.Password) + "'"
	var out []string
	if s.DB != "" {
		out = append(out, "CREATE DATABASE IF NOT EXISTS `"+s.DB+"`;")
	}
	for _, host := range []string{"localhost", "127.0.0.1", "%"} {
		who := "'" + s.User + "'@'" + host + "'"
		out = append(out,
			"CREATE USER IF NOT EXISTS "+who+" IDENTIFIED BY "+secret+";",
			"ALTER USER "+who+" IDENTIFIED BY "+secret+";",
			"GRANT ALL PRIVILEGES ON *.* TO "+who+" WITH GRANT OPTION;")
	}
	return strings.Join(out, "\n")
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
