package githubtest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
)

// refs are what the refs of a repository whose names begin with prefix point to. They are
// read from its files (https://git-scm.com/docs/gitrepository-layout), as starting git
// takes far longer and tests ask all the time.
func (s *Server) refs(repo github.Repo, prefix string) map[string]string {
	s.t.Helper()
	dir, out := s.dir(repo), map[string]string{}
	packed, err := os.ReadFile(filepath.Join(dir, "packed-refs"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatalf("githubtest: refs: %v", err)
	}
	for line := range strings.Lines(string(packed)) {
		if id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && strings.HasPrefix(name, prefix) && line[0] != '#' {
			out[name] = id
		}
	}
	err = filepath.WalkDir(filepath.Join(dir, prefix), func(file string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // a prefix without loose refs, or one that was removed just now
		}
		if err != nil || d.IsDir() || strings.HasSuffix(file, ".lock") {
			return err
		}
		id, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			return nil
		}
		if name, within := filepath.Rel(dir, file); within == nil {
			out[filepath.ToSlash(name)] = strings.TrimSuffix(string(id), "\n")
		}
		return err
	})
	if err != nil {
		s.t.Fatalf("githubtest: refs: %v", err)
	}
	return out
}

// ref is what a ref points to; empty where there is none.
func (s *Server) ref(repo github.Repo, name string) string {
	s.t.Helper()
	return s.refs(repo, name)[name]
}

// setRef has a name stand for a commit that the repository has.
func (s *Server) setRef(repo github.Repo, name, id string) {
	s.t.Helper()
	file := filepath.Join(s.dir(repo), name)
	made := filepath.Join(s.dir(repo), "ref-"+strings.ReplaceAll(name, "/", "-"))
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(made, []byte(id+"\n"), 0o644)
	}
	if err == nil {
		err = os.Rename(made, file) // others see the old one or the new one
	}
	if err != nil {
		s.t.Fatalf("githubtest: set %s: %v", name, err)
	}
}
