package agents

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// An Origin is a kind of place where agent files lie.
type Origin string

// The origins, the weakest first: of two definitions with one name the one from
// the stronger place counts, as a whole.
const (
	Builtin  Origin = "builtin"  // part of the program
	User     Origin = "user"     // folders of the person who runs ycbot by hand
	Project  Origin = "project"  // the tree of the base commit
	Operator Origin = "operator" // a folder that the operator names
)

// A Folder is a place with agent files.
type Folder struct {
	Origin  Origin
	Path    string // stands before the names of its files in what is reported
	Dialect Dialect
	FS      fs.FS // the files are in its root; nil, or a root that is not there: none
}

// UserFolders returns the folders of a user, the weakest first. open makes a
// file system of a path. A path that is empty is left out; yottacode and ycbot
// are the homes of these programs, such as ~/.ycbot.
func UserFolders(open func(dir string) fs.FS, home, yottacode, ycbot string) []Folder {
	var out []Folder
	for _, f := range []struct {
		root, below string
		dialect     Dialect
	}{
		{home, ".config/ex_athena/agents", ExAthena},
		{home, ".claude/agents", Claude},
		{yottacode, "agents", Yottacode},
		{ycbot, "agents", Ycbot},
	} {
		if f.root != "" {
			dir := path.Join(f.root, f.below)
			out = append(out, Folder{User, dir, f.dialect, open(dir)})
		}
	}
	return out
}

// ProjectFolders returns the folders of a project, the weakest first. Of
// .agents and .claude only the first that is there counts, as molf has it; the
// other one is a warning.
func ProjectFolders(tree fs.FS) ([]Folder, Problems) {
	var out []Folder
	var warnings Problems
	taken := ""
	for _, dir := range []string{".agents/agents", ".claude/agents", ".exathena/agents", ".yottacode/agents", ".ycbot/agents"} {
		info, err := fs.Stat(tree, dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
			continue
		case err != nil:
			warnings = append(warnings, Problem{File: dir, Text: reason(err), Fatal: true})
			continue
		case dir == ".agents/agents":
			taken = dir
		case dir == ".claude/agents" && taken != "":
			warnings = append(warnings, Problem{File: dir, Text: "not read, because " + taken + " is there"})
			continue
		}
		sub, err := fs.Sub(tree, dir)
		if err != nil {
			warnings = append(warnings, Problem{File: dir, Text: reason(err), Fatal: true})
			continue
		}
		out = append(out, Folder{Project, dir, DialectOf(dir), sub})
	}
	return out, warnings
}

// A Cast is the agents of a run.
type Cast struct {
	Definitions []Definition // by name
	Problems    Problems     // of all files, in the order in which they were read
	disabled    map[string]Problem
	builtins    map[string]Definition // before files of users and projects changed them
}

// Load reads the built-in agents, and over them folders, the weakest first. What is wrong with a file is a
// problem of the cast and costs the other files nothing. An agent that is
// disabled does not give way to a weaker one of its name, which may do more than
// the author of the file wants.
func Load(names Names, folders ...Folder) Cast {
	return load(names, append([]Folder{builtinFolder()}, folders...)...)
}

func builtinFolder() Folder { return Folder{Origin: Builtin, Dialect: Ycbot, FS: builtins} }

func load(names Names, folders ...Folder) Cast {
	c := Cast{disabled: map[string]Problem{}, builtins: map[string]Definition{}}
	for _, f := range folders {
		if f.FS != nil {
			c.read(f, names)
		}
	}
	sorted.By(c.Definitions, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	for i, d := range c.Definitions {
		for _, other := range c.Definitions[:i] {
			if strings.EqualFold(d.Name, other.Name) {
				c.Problems = append(c.Problems, Problem{File: d.Source, Text: fmt.Sprintf("agent %q differs from %q of %s in capitals only; both are there", d.Name, other.Name, other.Source)})
			}
		}
	}
	return c
}

// read adds the files of a folder.
func (c *Cast) read(f Folder, names Names) {
	entries, err := fs.ReadDir(f.FS, ".")
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.Problems = append(c.Problems, Problem{File: f.Path, Text: reason(err), Fatal: true})
		}
		return
	}
	here := map[string]string{} // files of this folder by the name of their agent
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".md" {
			continue
		}
		file := path.Join(f.Path, e.Name())
		data, err := readFile(f.FS, e.Name())
		if err != nil {
			c.Problems = append(c.Problems, Problem{File: file, Text: reason(err), Fatal: true})
			continue
		}
		p := parse(file, data, f.Dialect, names)
		d, problems := p.d, p.problems
		c.Problems = append(c.Problems, problems...)
		if d.Name == "" { // says nothing of whose it is
			continue
		}
		if first, ok := here[d.Name]; ok {
			c.Problems = append(c.Problems, Problem{File: file, Text: fmt.Sprintf("not used: agent %q is in %s already", d.Name, first)})
			continue
		}
		here[d.Name] = file
		d.Origin = f.Origin
		switch b, ok := c.builtins[d.Name]; {
		case f.Origin == Builtin:
			c.builtins[d.Name] = d
		case ok && d.Appends && p.sets("prompt"): // files of other systems append to a general agent where they do not say
			d = p.extend(d, b)
		}
		c.put(d, problems.Err())
	}
}

// put adds a definition in place of one with the same name.
func (c *Cast) put(d Definition, err error) {
	c.Definitions = slices.DeleteFunc(c.Definitions, func(old Definition) bool {
		if old.Name != d.Name {
			return false
		}
		d.Replaces = old.Source
		if old.Origin == Builtin {
			d.Replaces = string(Builtin)
		}
		return true
	})
	delete(c.disabled, d.Name)
	var p Problem
	if errors.As(err, &p) {
		c.disabled[d.Name] = p
		return
	}
	c.Definitions = append(c.Definitions, d)
}

// Find returns the definition of a name as [Find] does. The error says why there
// is none, and which there are.
func (c Cast) Find(name string) (Definition, error) {
	var all, usable []string
	for _, d := range c.Definitions {
		all = append(all, d.Name)
	}
	usable = slices.Clone(all)
	for n := range c.disabled {
		all = append(all, n)
	}
	if i := nearest(all, name); i >= len(usable) {
		return Definition{}, fmt.Errorf("agent %q is disabled: %w", all[i], c.disabled[all[i]])
	} else if i >= 0 {
		return c.Definitions[i], nil
	}
	return Definition{}, fmt.Errorf("there is no agent %q; there are %s", name, strings.Join(usable, ", "))
}

// Lacks is the error of Find; nil: the agent is there.
func (c Cast) Lacks(name string) error {
	_, err := c.Find(name)
	return err
}

// MaxSize is how large an agent file may be, in bytes.
const MaxSize = 256 << 10

// readFile reads a regular file of a bounded size.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name) // before opening: a pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("no regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1)) // Parse refuses one byte too many
}

// reason takes the path off an error: a problem names it already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
