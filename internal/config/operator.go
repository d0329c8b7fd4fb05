package config

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// An Operator is the file of an operator of the App: a configuration that lies below
// those of the repositories, and what no repository may say.
type Operator struct {
	Config       *Config
	Repositories Repositories
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
	}})
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
