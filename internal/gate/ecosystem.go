package gate

import (
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// An ecosystem is what the gate knows of one language and its tools. To add one
// is to add a file that makes such a value, and a line in [ecosystems].
//
// All functions are pure: they look at the files of a tree and at what programs
// the machine has, and start nothing. Those that are nil are not known.
type ecosystem struct {
	name  string // for people: "Go", "Node.js"
	units string // what its projects are: "Go modules"

	// fetched are folders below HOME in which the tools keep what they have fetched.
	fetched []string

	// registries are variables of the operator about registries, with stars in
	// them, which setup is given; registryFiles such that name files or folders.
	registries, registryFiles []string

	// hosts are the public registries, by name: what setup of a head that is not
	// trusted may reach.
	hosts []string

	// settingsFiles are files in which the operator can have said the same.
	settingsFiles []settingsFile

	// find returns what the tools can work in: a project for each folder that is
	// one, with its commands, the reason, and what is missing to run them.
	byGit bool // what it fetches by git runs nothing; others run hooks and scripts of that
	find  func(*survey) []project

	// isTest tells the files of tests by their paths. They are laid over the base,
	// and a change of nothing else changes nothing that runs.
	isTest func(name string) bool

	// isSource tells the files that hold code of this language, by their paths.
	isSource func(name string) bool

	// classes tell what files are to the tests, by the base's tests and data being
	// put over the head's sources and the reverse.
	classes classTable

	// steers tells files that decide what all of a project is built with, such as
	// a manifest and its lockfile.
	steers func(name string) bool

	// same says that two versions of a source differ in comments and layout only.
	same func(before, after []byte) bool

	// bound says that what is built names the folder that it was built in, so that
	// a copy of it at another place cannot be built again.
	bound bool

	// counts says how runs of its tests report which lines they ran; nil: they cannot.
	counts *lineCounts

	// adopt returns a plain command of the configuration, split into words, as one
	// that tells tests apart; false for what is not a runner that it knows.
	adopt func(c command, words []string) (command, bool)

	// absent tells from the output of a failed test that it wants what is not
	// there, and names that: it is no reproduction where only the change has it.
	// deps says that it is a dependency.
	absent func(output string) (name string, deps bool)
}

// ecosystems are those that the gate knows, in the order in which their
// commands are run.
func ecosystems() []*ecosystem {
	return []*ecosystem{
		goEcosystem(),
		nodeEcosystem(),
		pythonEcosystem(),
		rustEcosystem(),
		javaEcosystem(),
		cEcosystem(),
		rubyEcosystem(),
		dotnetEcosystem(),
		phpEcosystem(),
		elixirEcosystem(),
		makeEcosystem(), // last: where the others have tests, it only calls them
	}
}

// A project is a folder that the tools of an ecosystem work in.
type project struct {
	eco     *ecosystem
	dir     string   // in the repository, "." for its top
	what    string   // for people: "Go module example.com/m"
	why     []string // the files that it was found by, in the repository
	uses    []string // folders of other projects that it is built with
	always  bool     // whatever the change touches
	missing string   // what this machine lacks to run its commands, for people; it has none then
	notes   []string // what cannot be known of its tests, and why
	env     []string // for all of its commands

	setup, warm, build, lint, test []command
}

// results is how a command tells its tests apart.
type results struct {
	name string // for people: "go test -json", "JUnit XML of pytest"

	// collect returns what turns the command's standard output into results, for
	// a command that runs in the folder unit of the repository.
	collect func(unit string) collector

	// refused knows the exit codes by which the runner says that it failed as a whole, so
	// that its results are none; nil: none does.
	refused func(exit int) bool

	// narrow returns c for a part of its tests; false where that cannot be said,
	// so that all of them have to be run. Nil is never.
	narrow func(c command, p part) (command, bool)

	// apart says that its packages are run in processes of their own, so that a part
	// of them does what it does among the others.
	apart bool

	// probe returns c so that it runs its tests again in another way, and how;
	// nil: they can only be repeated.
	probe func(c command, p probing) (command, string)

	// hang lets the runner itself end a test that takes longer; nil: it cannot.
	hang func(c command, limit time.Duration) command

	// rebuild says that the build commands have to be run again before changed
	// tests are.
	rebuild bool
}

// A part is some of the tests of a command.
type part struct {
	packages []string        // as in ID.Package
	tests    map[string]bool // of these, top-level tests only; nil: all
}

// probing is how tests are run again.
type probing struct {
	seed     uint32
	packages []string // these only, as in ID.Package; nil: all
}

// A collector turns what a command writes to its standard output into results,
// while it comes.
type collector interface {
	io.Writer
	// suite returns the results once the command has ended. evidence is the id of
	// the record that holds its output; wd is cut out of outputs, so that those of
	// both sides compare.
	suite(evidence, wd string) Suite
	// rest returns what was no result, such as errors of the runner.
	rest() string
	// gap says why the results are not those of a whole run: there are none, they
	// cannot be read, or they contradict themselves. It is called after suite; much
	// says that there is more output than is kept.
	gap() (why string, much bool)
}

// A survey is a tree that projects are looked for in.
type survey struct {
	root    string   // absolute path
	files   []string // in the repository, sorted
	tools   *Toolchains
	note    func(format string, args ...any) // of what could not be read
	present map[string]bool
	over    map[string][]byte // contents in place of those in the tree
}

func newSurvey(root string, files []string, tools *Toolchains, note func(string, ...any)) *survey {
	if tools == nil {
		tools = &Toolchains{}
	}
	s := &survey{root: root, files: files, tools: tools, note: note, present: map[string]bool{}}
	for _, f := range files {
		s.present[f] = true
	}
	return s
}

// has says whether the folder dir of the tree has a file.
func (s *survey) has(dir, name string) bool { return s.present[path.Join(dir, name)] }

// first returns the first of names that dir has, or "".
func (s *survey) first(dir string, names ...string) string {
	for _, n := range names {
		if s.has(dir, n) {
			return n
		}
	}
	return ""
}

// dirs returns the folders that have a file with one of these names, in which
// sources of people can be.
func (s *survey) dirs(names ...string) []string {
	var out []string
	for _, f := range s.files {
		dir := path.Dir(f)
		if slices.Contains(names, path.Base(f)) && !ignoredDir(dir) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// below returns the files in dir, named from there.
func (s *survey) below(dir string) []string {
	if dir == "." {
		return s.files
	}
	var out []string
	for _, f := range s.files {
		if rest, ok := strings.CutPrefix(f, dir+"/"); ok {
			out = append(out, rest)
		}
	}
	return out
}

// file returns the content of a file by its path in the repository.
func (s *survey) file(name string) ([]byte, error) {
	if data, ok := s.over[name]; ok {
		return data, nil
	}
	return readInTree(s.root, name)
}

// read returns a file's content, nil where it cannot be read.
func (s *survey) read(dir, name string) []byte {
	data, err := s.file(path.Join(dir, name))
	if err != nil {
		if s.has(dir, name) {
			s.note("%s: %v", path.Join(dir, name), err)
		}
		return nil
	}
	return data
}

// choose splits projects into those that the changed paths can affect and those
// that they cannot. One at the top, and what says so of itself, always counts.
func choose(projects []project, changed []string) (chosen, left []project) {
	take := map[string]bool{} // by folder
	for _, p := range projects {
		take[p.dir] = take[p.dir] || p.dir == "." || p.always
	}
	for _, c := range changed {
		if dir, ok := innermost(projects, c); ok {
			take[dir] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range projects {
			if !take[p.dir] && slices.ContainsFunc(p.uses, func(u string) bool { return take[u] }) {
				take[p.dir], grown = true, true
			}
		}
	}
	for _, p := range projects {
		if take[p.dir] {
			chosen = append(chosen, p)
		} else {
			left = append(left, p)
		}
	}
	return chosen, left
}

// innermost returns the folder of the innermost project that holds a path.
func innermost(projects []project, name string) (string, bool) {
	best, found := "", false
	for _, p := range projects {
		if inside(p.dir, name) && (!found || len(p.dir) > len(best) || best == ".") {
			best, found = p.dir, true
		}
	}
	return best, found
}

// inside says whether a path lies in a folder.
func inside(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}
