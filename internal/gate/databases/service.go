// Package databases finds the databases that a project's own CI gives its tests, and starts
// those that this machine has beside a command, in the loopback that is the command's own.
package databases

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/workflows"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Kind is a sort of service that can be started.
type Kind string

// The kinds, by the names that people know.
const (
	PostgreSQL Kind = "PostgreSQL"
	Redis      Kind = "Redis"
	MySQL      Kind = "MySQL"
)

// A Service is one that a job of the project's CI has beside its tests.
type Service struct {
	Name               string // as the job calls it
	Kind               Kind   // empty: none that can be started
	Image              string
	Port               int // of the loopback interface
	User, Password, DB string
	From               string // the file that says so
}

// kinds are the images by the last part of their names, without the tag.
var kinds = map[string]Kind{
	"postgres": PostgreSQL, "postgresql": PostgreSQL, "postgis": PostgreSQL, "pgvector": PostgreSQL, "timescaledb": PostgreSQL,
	"redis": Redis, "valkey": Redis, "mysql": MySQL, "mariadb": MySQL, "percona": MySQL,
}

// Find returns the services of the first job of each kind of service, in the order of the
// files and of the names of jobs, and the variables by which these jobs name them to their
// tests. What cannot be read as a workflow has none.
func Find(read func(name string) ([]byte, error), files []string) ([]Service, []string) {
	var found []Service
	env := map[string]string{}
	for _, name := range slices.Sorted(slices.Values(files)) {
		if !workflows.Is(name) {
			continue
		}
		data, err := read(name)
		if err != nil {
			continue
		}
		for _, j := range workflows.Jobs(name, data, nil) {
			fresh := slices.DeleteFunc(services(j), func(s Service) bool {
				return slices.ContainsFunc(found, func(f Service) bool {
					return f.Name == s.Name || f.Kind != "" && f.Kind == s.Kind || f.Port == s.Port && s.Port != 0
				})
			})
			if len(fresh) == 0 {
				continue
			}
			found = append(found, fresh...)
			for _, vars := range append([]map[string]any{j.Env}, envOfSteps(j)...) {
				for _, k := range slices.Sorted(maps.Keys(vars)) {
					if v, ok := variable(k, vars[k], fresh); ok && env[k] == "" {
						env[k] = v
					}
				}
			}
		}
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return found, out
}

func envOfSteps(j workflows.Job) []map[string]any {
	var out []map[string]any
	for _, s := range j.Steps {
		out = append(out, s.Env)
	}
	return out
}

// services are those of a job, by name.
func services(j workflows.Job) []Service {
	var out []Service
	for _, name := range slices.Sorted(maps.Keys(j.Services)) {
		a := j.Services[name]
		image, _, _ := strings.Cut(a.Image, "@")
		base, _, _ := strings.Cut(path.Base(image), ":")
		s := Service{Name: name, Kind: kinds[base], Image: a.Image, From: j.File}
		text := func(names ...string) string {
			for _, n := range names {
				if v, ok := workflows.Plain(a.Env[n]); ok {
					return v
				}
			}
			return ""
		}
		switch s.Kind {
		case PostgreSQL:
			s.Port, s.User, s.Password = 5432, cmp.Or(text("POSTGRES_USER"), "postgres"), text("POSTGRES_PASSWORD")
			s.DB = cmp.Or(text("POSTGRES_DB"), s.User)
		case MySQL:
			s.Port, s.User = 3306, cmp.Or(text("MYSQL_USER", "MARIADB_USER"), "root")
			s.Password = cmp.Or(text("MYSQL_PASSWORD", "MARIADB_PASSWORD"), text("MYSQL_ROOT_PASSWORD", "MARIADB_ROOT_PASSWORD"))
			s.DB = text("MYSQL_DATABASE", "MARIADB_DATABASE")
		case Redis:
			s.Port = 6379
		}
		for _, p := range a.Ports {
			outer, inner, both := strings.Cut(fmt.Sprint(p), ":")
			if n, err := strconv.Atoi(outer); err == nil && n >= 1024 && n < 1<<16 && (both && strings.HasPrefix(inner, strconv.Itoa(s.Port)) || n == s.Port) {
				s.Port = n
			}
		}
		if s.Kind != "" && (!word.MatchString(s.User) || !word.MatchString(s.DB)) {
			s.Kind = "" // it is nothing to write into SQL
		}
		out = append(out, s)
	}
	return out
}

// word is what names of users and databases are made of, and may be missing.
var word = pattern.New(`^[A-Za-z0-9_.-]*$`)

var (
	varName = pattern.New(`^[A-Z_][A-Z0-9_]*$`)
	about   = pattern.New(`(?:^|_)(?:DB|DATABASE|PG[A-Z]*|POSTGRES[A-Z]*|MYSQL|MARIADB|REDIS|VALKEY|SQL[A-Z]*|DSN)(?:_|$)`)
	steers  = pattern.New(`^(?:PATH|HOME|SHELL|ENV|BASH_ENV|TMPDIR|IFS|(?:LD|DYLD|GO|GIT|PYTHON|PIP|NODE|NPM|RUBY|GEM|BUNDLE|PERL|PHP|JAVA|MAVEN|GRADLE|CARGO|RUST)[A-Z0-9_]*)$`)
	mapped  = pattern.New(`\$\{\{\s*job\.services\.([\w-]+)\.ports\[['"]?\d+['"]?\]\s*\}\}`)
)

// variable is a variable of a job that names one of its services, with their place here.
func variable(name string, value any, services []Service) (string, bool) {
	if value == nil || !varName.MatchString(name) || steers.MatchString(name) {
		return "", false
	}
	text := mapped.ReplaceAllStringFunc(fmt.Sprint(value), func(expr string) string {
		for _, s := range services {
			if m := mapped.FindStringSubmatch(expr); s.Name == m[1] {
				return strconv.Itoa(s.Port)
			}
		}
		return expr
	})
	if strings.Contains(text, "${{") || strings.ContainsAny(text, "\x00\n") {
		return "", false
	}
	named := about.MatchString(name)
	for _, s := range services {
		host := strings.NewReplacer("@"+s.Name+":", "@localhost:", "//"+s.Name+":", "//localhost:", "@"+s.Name+"/", "@localhost/").Replace(text)
		if text == s.Name {
			host = "localhost"
		}
		named = named || host != text || s.Port != 0 && strings.Contains(text, "localhost:"+strconv.Itoa(s.Port)) || strings.Contains(text, "127.0.0.1:"+strconv.Itoa(s.Port))
		text = host
	}
	return text, named
}
