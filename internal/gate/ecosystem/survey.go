package ecosystem

import (
	"path"
	"slices"
	"strings"
)

// A Survey is a tree that projects are looked for in.
type Survey struct {
	from    func(name string) ([]byte, error)
	Files   []string                         // in the repository, sorted
	Tools   *Toolchains                      // of the machine
	Note    func(format string, args ...any) // of what could not be read
	present map[string]bool
	Over    map[string][]byte // contents in place of those in the tree
}

// NewSurvey is the survey of a tree of which files are the paths, and read gives the
// content of one, as by [InTree]. note receives what cannot be read.
func NewSurvey(read func(name string) ([]byte, error), files []string, tools *Toolchains, note func(string, ...any)) *Survey {
	if tools == nil {
		tools = &Toolchains{}
	}
	s := &Survey{from: read, Files: files, Tools: tools, Note: note, present: map[string]bool{}}
	for _, f := range files {
		s.present[f] = true
	}
	return s
}

// InTree reads files of the folder root.
func InTree(root string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return ReadInTree(root, name) }
}

// Has says whether the folder dir of the tree has a file.
func (s *Survey) Has(dir, name string) bool { return s.present[path.Join(dir, name)] }

// First returns the first of names that dir has, or "".
func (s *Survey) First(dir string, names ...string) string {
	for _, n := range names {
		if s.Has(dir, n) {
			return n
		}
	}
	return ""
}

// Dirs returns the folders that have a file with one of these names, in which
// sources of people can be.
func (s *Survey) Dirs(names ...string) []string {
	var out []string
	for _, f := range s.Files {
		dir := path.Dir(f)
		if slices.Contains(names, path.Base(f)) && !IgnoredDir(dir) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// Below returns the files in dir, named from there.
func (s *Survey) Below(dir string) []string {
	if dir == "." {
		return s.Files
	}
	var out []string
	for _, f := range s.Files {
		if rest, ok := strings.CutPrefix(f, dir+"/"); ok {
			out = append(out, rest)
		}
	}
	return out
}

// Folders of builds that tests read or that others are made of, and of such that are brought.
var (
	readOnly = strings.Fields("fixtures fixture __fixtures__ test-data test_data templates template")
	brought  = strings.Fields("archetype-resources resources deps third_party")
)

// IsFixture says whether a folder lies in one of builds that tests read or that others are made of; or
// in one of such that are brought, where it is below a folder of tests or has no tests, by their paths
// from there.
func (s *Survey) IsFixture(dir string, isTest func(name string) bool) bool {
	return InFolder(dir+"/", readOnly...) ||
		InFolder(dir+"/", brought...) && (InFolder(dir+"/", "test", "tests", "__tests__", "spec", "specs") || !slices.ContainsFunc(s.Below(dir), isTest))
}

// Apart says whether a folder with a build of its own, which lies below another build and is no
// part of that, has tests, by their paths from there: nothing else runs them.
func (s *Survey) Apart(dir string, isTest func(name string) bool) bool {
	return !InFolder(dir+"/", readOnly...) && !InFolder(dir+"/", brought...) && slices.ContainsFunc(s.Below(dir), isTest)
}

// File returns the content of a file by its path in the repository.
func (s *Survey) File(name string) ([]byte, error) {
	if data, ok := s.Over[name]; ok {
		return data, nil
	}
	return s.from(name)
}

// InRepository is the content of a file by its path in the repository, nil where it cannot be read.
func (s *Survey) InRepository(name string) []byte { return s.Read(".", name) }

// Read returns a file's content, nil where it cannot be read.
func (s *Survey) Read(dir, name string) []byte {
	data, err := s.File(path.Join(dir, name))
	if err != nil {
		if s.Has(dir, name) {
			s.Note("%s: %v", path.Join(dir, name), err)
		}
		return nil
	}
	return data
}
