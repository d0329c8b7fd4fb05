package ecosystem

import (
	"io/fs"

	"github.com/ycbot/ycbot/internal/gate/workflows"
)

// An Ecosystem is what the gate knows of one language and its tools. To add one
// is to add a package that makes such a value, and a line in the list of package languages.
//
// All functions are pure: they look at the files of a tree and at what programs
// the machine has, and start nothing. Those that are nil are not known.
type Ecosystem struct {
	Name  string // for people: "Go", "Node.js"
	Units string // what its projects are: "Go modules"

	// Fetched are folders below HOME in which the tools keep what they have fetched.
	Fetched []string

	// Registries are variables of the operator about registries, with stars in
	// them, which setup is given; RegistryFiles such that name files or folders.
	Registries, RegistryFiles []string

	// Programs are those whose version can decide how its tests end.
	Programs []string

	// Runners are programs beside these that run its tests, by what workflows call.
	Runners []string

	// Hosts are the public registries, by name: what setup of a head that is not
	// trusted may reach.
	Hosts []string

	// SettingsFiles are files in which the operator can have said the same.
	SettingsFiles []SettingsFile

	// ByGit says that nothing runs of what they fetch by git; others run hooks and scripts
	// of that.
	ByGit bool

	// Pin adds to the data that a command fetches among the package manager that the base
	// has chosen, whose files read returns, nil for what is not there. own says that the
	// program of one is among the data.
	Pin func(unit string, data map[string][]byte, read func(name string) ([]byte, error)) (own bool, err error)

	// Find returns what the tools can work in: a project for each folder that is
	// one, with its commands, the reason, and what is missing to run them.
	Find func(*Survey) []Project

	// IsTest recognises the files of tests by their paths. They are laid over the base,
	// and a change of nothing else changes nothing that runs.
	IsTest func(name string) bool

	// IsSource recognises the files that hold code of this language, by their paths.
	IsSource func(name string) bool

	// Classes say what files are to the tests, by the base's tests and data being
	// put over the head's sources and the reverse.
	Classes ClassTable

	// Steers recognises files that decide what all of a project is built with, such as
	// a manifest and its lockfile.
	Steers func(name string) bool

	// Asks are the tools of which files of a project ask for a version.
	Asks []Asking

	// Tasks are the commands to which the settings of a project in a folder give names, such as
	// those that run its tests; nil: there are no such settings.
	Tasks func(s *Survey, dir string) []workflows.Job

	// Generates is the command by which a source asks for files to be made, as its
	// comments say; empty: it does not.
	Generates func(name string, s *Survey) string

	// Same says that two versions of a source differ in comments and layout only.
	Same func(before, after []byte) bool

	// Compiled says that build commands make what tests run of a file, so that they have
	// to be run again where it is another one.
	Compiled func(name string) bool

	// Describes recognises files that say how sources and tests are built alike; nil: there are none.
	Describes func(name string) bool

	// KeepsMade recognises files of builds that take what they made before by its time alone, whatever the
	// rules were that made it; nil: there are none.
	KeepsMade func(name string) bool

	// Calls says that its commands only call what other ecosystems run: a project is none
	// where one of another has tests in its folder or below.
	Calls bool

	// Caches says that its tools compile into the build cache that the gate keeps.
	Caches bool

	// Packages is set where tests belong to packages rather than to files.
	Packages *Packages

	// What the tools can do with packages beyond running their tests; nil: they cannot.
	Race     *Race
	Fuzz     *Fuzz
	Coverage *Coverage
	// Behaviour is nil where functions of packages cannot be called by themselves.
	Behaviour *Behaviour

	// Provided are the programs that the projects of a tree give to their users, by its
	// paths and packages; nil: none are known.
	Provided func(tree fs.FS, files []string, pkgs []Package) []Program

	// Lines says how runs of its tests report which lines they ran; nil: they cannot.
	Lines *LineMeter

	// Objects are the names that a compiler gives to what it makes of a source, as far as they
	// end so; none: it is compiled with others. nil: nothing is left of single sources.
	Objects func(source string) []string

	// Bound says that what is built names the folder that it was built in, so that
	// a copy of it at another place cannot be built again.
	Bound bool

	// Adopt returns a plain command of the configuration, split into words, as one
	// that reports each test; false for what is not a runner that it knows.
	Adopt func(c Command, words []string) (Command, bool)

	// Absent reads from the output of a failed test that it wants what is not
	// there, and names that: it is no reproduction where only the change has it.
	// deps says that it is a dependency.
	Absent func(output string) (name string, deps bool)

	// Installed are the folders below dir, of packages that tests may compare with or run by,
	// which setup is to install alike in two trees: those of one version, and those of which
	// bumped does not say that the change asks for another one. says says whether tests name a
	// package. nil: what is installed lies elsewhere.
	Installed func(base, head fs.FS, dir string, says, bumped func(name string) bool) []string

	// Older are packages in the folder of a project that tests compare with, or run by, and of which
	// the head has an older version, each with both; nil: versions are not known.
	Older func(base, head fs.FS, dir string) []string

	// Unimport is a file of tests without the import of a name, or of a module, that its output says
	// is not there, so that its tests run that do not use it, and the names that it lacks then; nil:
	// the language loads no file without one. There are no names where the file does not import it
	// by itself.
	Unimport func(src []byte, output string) (rest []byte, names []string)

	// Cutting leaves tests that do not compile out of their files, where tests belong to files; nil:
	// such files are left out as a whole.
	Cutting *Cutting

	// Forwarding is how tests find sources, and what these offer, where both were before a change
	// moved them; nil: they cannot.
	Forwarding *Forwarding
}
