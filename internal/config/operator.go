package config

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v4"
)

// An Operator is the file of an operator of the App: a configuration that lies below
// those of the repositories, and what no repository may say.
type Operator struct {
	Config       *Config
	Repositories Repositories
	Force        *Force // nil: nothing is
}

// A Force is the settings of an operator that hold whatever a repository's file says.
type Force struct {
	Keys []string // of the top, as the file has them
	file string
	node *yaml.Node
}

// Over lays what is forced over c, which stays as it is; of limits the lower one counts.
func (f *Force) Over(c *Config) *Config {
	if f == nil {
		return c
	}
	over, _ := c.lay(f.file, func(d *document, s section) { d.section(f.node, "force", s) }) // it was read without a problem once
	return over
}

// forced reads settings that are forced.
func forced(to **Force, file string) setter {
	return func(d *document, n *yaml.Node, path string) {
		before := len(d.problems)
		d.section(n, path, schema(Default()))
		if len(d.problems) > before || len(n.Content) == 0 {
			return
		}
		*to = &Force{file: file, node: n}
		for i := 0; i < len(n.Content); i += 2 {
			(*to).Keys = append((*to).Keys, n.Content[i].Value)
		}
	}
}

// Repositories says whose events are listened to, by globs over "owner/name" in which
// letters are the same in either case. What Deny has is not, also where Allow has it; an
// empty Allow is everything else.
type Repositories struct {
	Allow, Deny []string
}

// Allows reports whether the repository "owner/name" is listened to.
func (r Repositories) Allows(name string) bool {
	name = strings.ToLower(name)
	matches := func(glob string) bool { return doublestar.MatchUnvalidated(strings.ToLower(glob), name) }
	return !slices.ContainsFunc(r.Deny, matches) && (len(r.Allow) == 0 || slices.ContainsFunc(r.Allow, matches))
}

// ParseOperator reads an operator's file, as [Parse] does a repository's.
func ParseOperator(name string, data []byte) (*Operator, error) {
	var out Operator
	var err error
	out.Config, err = Default().with(name, data, field{key: "repositories", sub: section{
		{key: "allow", set: list(&out.Repositories.Allow, RepositoryGlob)},
		{key: "deny", set: list(&out.Repositories.Deny, RepositoryGlob)},
	}}, field{key: "force", set: forced(&out.Force, name)})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// RepositoryGlob says what is wrong with a glob over "owner/name"; "" where nothing is.
func RepositoryGlob(s string) string {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return "want OWNER/NAME, in which * and ? stand for letters, such as acme/* or */sandbox-*"
	}
	return glob(s)
}
