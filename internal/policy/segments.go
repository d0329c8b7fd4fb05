package policy

import (
	"path"
	"slices"
	"strings"
)

// A Segment is one command of a script, as rules look at it.
type Segment struct {
	Text string // its words with one blank between them, without quotes; a computed word is ${…}
	Base string // the same with the folder of the program left out
	// Trap says why the first words do not show what runs: such a command is
	// never covered by an Allow rule.
	Trap string
	// Behind is true where another command runs it, and may give it more words: xargs does
	// from its input.
	Behind bool
	// Hidden is true where what a trap runs is not among the segments either.
	Hidden bool
}

// A Script is what can be said of a shell command without running it.
type Script struct {
	Segments []Segment // also those in $(), backticks, sh -c, eval, and behind env, xargs, find -exec and the like
	// Doubt says why there may be commands that are not in Segments; empty: there are none.
	Doubt  string
	Writes bool // output goes to a file other than /dev/null
}

// Read takes a shell command apart.
func Read(command string) Script {
	c := checker{collect: true}
	c.script(command, 0)
	s := Script{Segments: c.segments, Doubt: c.note, Writes: c.writes}
	for i, seg := range c.segments {
		if s.Doubt == "" && seg.Hidden {
			s.Doubt = seg.Trap
		}
		if seg.Trap == "" {
			s.Segments[i].Trap = c.ambient
		}
	}
	return s
}

// computed stands in a Segment for a word that is only known at run time.
const computed = "${…}"

// keep makes a segment of the words of a simple command. behind is as in [Segment].
func (c *checker) keep(args []string, behind bool) {
	shown := slices.Clone(args)
	for i, a := range shown {
		shown[i] = strings.ReplaceAll(a, dynamic, computed)
	}
	seg := Segment{Text: strings.Join(shown, " "), Behind: behind}
	base := slices.Clone(shown)
	base[0] = path.Base(base[0])
	seg.Base = strings.Join(base, " ")
	if seg.Trap = elsewhere(base[0], args[1:]); seg.Trap != "" {
		// Like a program that is built or installed, it runs what its file says: a rule
		// about commands is not about that.
	} else if seg.Trap = hidden(base[0], args); seg.Trap != "" {
		seg.Hidden = true
	} else if seg.Trap = indirect(base[0], args[1:]); seg.Trap == "" && c.assigned {
		seg.Trap = "variables are set for " + base[0]
	}
	c.assigned = false
	c.segments = append(c.segments, seg)
}

// candidates takes each word for the wrapped command that may be it: which options
// of a wrapper take the next word as their value differs from one to the next and
// from one version to the next.
func (c *checker) candidates(name string, rest []string, operands, depth int) {
	if name == "command" && looksUp(rest) {
		return
	}
	left := operands + 1
	for i, a := range rest {
		switch {
		case slices.Contains(scripted, name) && strings.ContainsAny(a, " \t\n;&|<>()$`"):
			c.literal(attached(a), depth)
		case name == "env" && splits(a) >= 0:
			c.literal(strings.Join(append([]string{a[splits(a):]}, rest[i+1:]...), " "), depth)
			return
		case a == "--":
		case valueless(name, a):
		case strings.HasPrefix(a, "-") && len(a) > 1:
			left++
		case name == "env" && strings.Contains(a, "="):
		default:
			c.argv(rest[i:], depth+1)
			if left--; left == 0 {
				return
			}
		}
	}
}

// attached is a word without the option before its text, as in -c'text' and --command='text'.
func attached(word string) string {
	switch {
	case strings.HasPrefix(word, "--"):
		_, text, _ := strings.Cut(word, "=")
		return text
	case strings.HasPrefix(word, "-"):
		_, text, _ := strings.Cut(word, "c")
		return text
	}
	return word
}

// splits is where the text begins that an option of env takes apart, in the option or in the
// next word; -1: it is another option.
func splits(option string) int {
	if strings.HasPrefix(option, "--s") {
		if at := strings.IndexByte(option, '='); at >= 0 {
			return at + 1
		}
		return len(option)
	}
	if strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") {
		if at := strings.IndexByte(option, 'S'); at >= 0 && strings.Trim(option[1:at], "i0v") == "" {
			return at + 1
		}
	}
	return -1
}

// valueless says of an option of a wrapper that the next word is not its value in any
// version.
func valueless(name, option string) bool {
	if strings.HasPrefix(option, "--") && strings.Contains(option, "=") {
		return true
	}
	letters, with := "", "" // options without a value, and with one that may be in the same word
	switch name {
	case "xargs":
		letters, with = "0rtpxo", "nPLsI"
	case "timeout":
		with = "ks"
	case "stdbuf":
		with = "ioe"
	case "nice":
		with = "n"
	case "env":
		letters = "i0v"
	case "time":
		letters = "pvq"
	case "command":
		letters = "p"
	}
	switch option {
	case "--foreground", "--preserve-status", "--verbose", "--null", "--no-run-if-empty", "--ignore-environment":
		return name == "timeout" || name == "xargs" || name == "env"
	}
	if len(option) > 2 && option[0] == '-' && strings.Contains(with, option[1:2]) {
		return true
	}
	return letters != "" && strings.HasPrefix(option, "-") && len(option) > 1 && strings.Trim(option[1:], letters) == ""
}

// looksUp says whether the shell's command only says what a name stands for.
func looksUp(rest []string) bool {
	for _, a := range rest {
		if !strings.HasPrefix(a, "-") || a == "--" {
			return false
		}
		if strings.ContainsAny(a, "vV") {
			return true
		}
	}
	return false
}

// elsewhere says of a command that it runs what a file or another machine holds, and
// nothing else that its words do not show: no Allow rule covers it, but neither is it a
// disguise of another command.
func elsewhere(name string, rest []string) string {
	if slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, dynamic) }) {
		return ""
	}
	if slices.Contains(shells, name) {
		if texts, file := started(rest); len(texts) == 0 && file != "" && !open.MatchString(file) {
			return name + " runs a script that is not part of the command"
		}
		return ""
	}
	switch name {
	case ".", "source":
		if rest = pastEnd(rest); len(rest) > 0 && !open.MatchString(rest[0]) && rest[0] != "-" {
			return name + " runs a script that is not part of the command"
		}
	case "awk", "gawk", "mawk", "nawk":
		if i := slices.Index(rest, "-f"); i >= 0 && i+1 < len(rest) && !slices.ContainsFunc(rest, func(a string) bool { return strings.HasPrefix(a, "/dev/") || a == "-" }) {
			return name + " runs a program that is not part of the command"
		}
	case "ssh", "docker", "podman":
		return name + " runs a command in a way of its own"
	}
	return ""
}

// hidden says why a command may run something that the script does not show.
func hidden(name string, args []string) string {
	rest := args[1:]
	if texts, _ := started(rest); slices.Contains(shells, name) && len(texts) == 0 {
		return name + " runs a script that is not part of the command"
	}
	switch name {
	case ".", "source":
		return name + " runs a script that is not part of the command"
	case "awk", "gawk", "mawk", "nawk":
		return awkTrap(name, rest)
	case "git":
		return gitTrap(rest)
	case "sed":
		return sedTrap(rest)
	case "vi", "vim", "nvim", "ex", "ed", "emacs", "gdb", "lldb":
		return name + " has commands of its own that run programs"
	case "alias", "hash", "enable":
		if name == "alias" && !slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, "=") || a == dynamic }) ||
			name == "hash" && !slices.ContainsFunc(rest, func(a string) bool { return strings.HasPrefix(a, "-") && strings.Contains(a, "p") || a == dynamic }) {
			break // it shows or forgets names
		}
		return name + " can give the name of a command to another one"
	case "env":
		for _, a := range rest {
			if key, _, ok := strings.Cut(a, "="); ok && commandVariables.MatchString(key) {
				return "the variable " + key + " can make other commands run a program"
			}
			if a != "-S" && a != "--split-string" && (strings.HasPrefix(a, "--s") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "S")) {
				return "env " + a + " takes a command line apart"
			}
		}
	case "ssh", "docker", "podman", "nsenter", "script", "watch", "parallel":
		return name + " runs a command in a way of its own"
	}
	if trap := runnerTrap(name, rest); trap != "" {
		return trap
	}
	word := args[0]
	if word == dynamic || word != "[" && word != "[[" && strings.ContainsAny(word, "*?[") {
		return "the program is only known at run time"
	}
	return ""
}

// indirect says why a command runs another one, which is a segment of its own.
func indirect(name string, rest []string) string {
	switch name {
	case "find":
		for _, a := range rest {
			if strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok") || a == "-delete" || strings.HasPrefix(a, "-fprint") || a == "-fls" {
				return "find " + a + " does more than find"
			}
		}
	}
	if _, wraps := wrappers(name); len(rest) > 0 && (wraps || slices.Contains(shells, name) || name == "eval" || name == "trap") {
		return name + " runs another command"
	}
	return writerTrap(name, rest)
}

// gitOptions are options with which git runs a program that they name, by the command they
// belong to; "" is those of git itself, which stand before a command, and * those of any command.
var gitOptions = table(`
: -c, --config-env, --exec-path
*: --upload-pack, --receive-pack, --ext-diff, --extcmd, --exec, --open-files-in-pager
clone: -c, --config, -u
diff: -O
fetch-pack: --exec
grep: -O
rebase: -x
difftool: -x`)

// gitTrap finds the options with which git runs a program that they name.
func gitTrap(rest []string) string {
	at := gitCommand(rest)
	sub, after := rest[:min(1, len(rest))], []string{} // without a command the first word counts
	if at < len(rest) {
		sub, after = rest[at:at+1], rest[at+1:]
	}
	if slices.Contains(sub, dynamic) || slices.Contains(after, dynamic) && slices.Contains([]string{"grep", "ls-remote", "fetch", "pull", "clone", "archive", "rebase"}, rest[at]) {
		return "a computed word of git can be an option that runs a program"
	}
	for i, a := range rest {
		options := gitOptions()[""]
		switch {
		case i == at && slices.Contains([]string{"bisect", "filter-branch", "submodule", "difftool", "mergetool", "hook"}, a):
			return "git " + a + " runs other programs"
		case i > at && at < len(rest):
			options = slices.Concat(gitOptions()["*"], gitOptions()[rest[at]])
		}
		for _, opt := range options {
			word, _, _ := strings.Cut(a, "=")
			long := strings.HasPrefix(opt, "--")
			if a == opt || long && len(word) > 4 && strings.HasPrefix(opt, word) || !long && strings.HasPrefix(a, opt) && !strings.HasPrefix(a, "--") {
				return "git " + a + " can run a program of its choice"
			}
		}
	}
	return ""
}

// gitCommand is where the command of git stands behind git's own options; the number of words
// where there is none.
func gitCommand(args []string) int {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains([]string{"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}, a):
			i++
		case !strings.HasPrefix(a, "-"):
			return i
		}
	}
	return len(args)
}
