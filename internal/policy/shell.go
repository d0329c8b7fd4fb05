package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// CheckShell refuses the few commands that are never part of a verification:
// wiping a file system or a home, writing to a raw device, fork bombs, killing
// every process, taking the machine down, and asking for more privilege.
//
// It looks at each command of the script, behind wrappers such as env, timeout
// and xargs, and into the literal text of sh -c and eval. What is computed at
// run time, and what an interpreter does, it cannot see. A script that does not
// parse is not refused for that: bash will say so itself, and note says what
// could not be checked.
func CheckShell(command string) (denial *Denial, note string) {
	c := checker{}
	c.script(command, 0)
	return c.denial, c.note
}

// Bounds of what is taken apart.
const (
	maxNesting  = 8
	maxSegments = 1000
	maxBehind   = 2000      // words that may be the command that another one runs
	maxAbove    = 64        // lines
	maxFed      = 512 << 10 // bytes of commands whose output others run
)

// A checker walks scripts until it finds the first reason to refuse, or where
// it collects, to their end.
type checker struct {
	denial *Denial
	note   string

	mutations bool // refuse only what changes or publishes something
	collect   bool // refuse nothing, keep the commands
	segments  []Segment
	behind    int    // words that were taken for the command that another one runs
	fed       int    // bytes of commands whose output others run
	braced    int    // words that braces stand for
	assigned  bool   // the command that is looked at sets variables for itself
	ambient   string // why the words of the commands do not say what they do
	writes    bool   // output goes to a file
}

func (c *checker) deny(rule, reason string) {
	if c.denial == nil && !c.collect && !c.mutations {
		c.denial = &Denial{
			Code: CodeHardFloor, Rule: rule, Reason: reason, Source: builtIn,
			Hint: "no check needs this; work inside the worktree and $TMPDIR",
		}
	}
}

// doubt notes the first thing that could not be checked.
func (c *checker) doubt(note string) {
	if c.note == "" {
		c.note = note
	}
}

// tooMany refuses what would take too long to be looked at: bash would run it.
func (c *checker) tooMany(what string) {
	c.doubt("too many " + what + " to be checked")
	if c.mutations {
		c.mutates("too many "+what, nil)
	}
}

func (c *checker) script(src string, depth int) {
	if depth > maxNesting {
		c.doubt("scripts nested too deeply to be checked")
		return
	}
	file, err := parsed(src)
	if err != nil {
		if errors.Is(err, shelltext.ErrBounds) { // bash would run it
			c.deny("size", "so long or deep a text cannot be checked")
		}
		c.doubt("not checked to its end, because it does not parse: " + err.Error())
		if file = above(src, err); file == nil {
			return
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Redirect:
			c.redirect(x)
		case *syntax.Stmt:
			c.input(x, depth)
		case *syntax.BinaryCmd:
			c.piped(x, depth)
		case *syntax.CoprocClause:
			unnamed(x)
		case *syntax.FuncDecl:
			if callsItself(x) {
				c.deny("fork bomb", "the function "+x.Name.Value+" starts itself again and again")
			}
		case *syntax.DeclClause:
			c.declared(x, depth)
		case *syntax.TestClause, *syntax.LetClause, *syntax.ArithmCmd:
			c.evaluatesAll(x, depth)
		case *syntax.ParamExp:
			if c.collect && x.Exp != nil && x.Exp.Op == syntax.OtherParamOps {
				c.doubt("bash runs the commands in what it expands as a prompt")
			}
		case *syntax.CallExpr:
			c.assigns(x)
			c.argv(c.expanded(x.Args), depth)
		}
		return c.denial == nil
	})
}

func parsed(src string) (*syntax.File, error) {
	return shelltext.Parse(src)
}

// above is what bash runs of a script that does not parse: the whole commands in the lines
// before. nil: there are none, or they are not among the last maxAbove lines.
func above(src string, err error) *syntax.File {
	var at syntax.ParseError
	if !errors.As(err, &at) {
		return nil
	}
	lines := strings.SplitAfter(src, "\n")
	last := min(len(lines), int(at.Pos.Line())) - 1
	for n := last; n > 0 && n > last-maxAbove; n-- {
		if file, err := parsed(strings.Join(lines[:n], "")); err == nil {
			return file
		}
	}
	return nil
}

// argv checks one simple command.
func (c *checker) argv(args []string, depth int) {
	switch {
	case len(args) == 0 || c.denial != nil:
		return
	case depth > maxNesting:
		c.doubt("commands nested too deeply to be checked")
		return
	case depth > 0 && !c.collect:
		if c.behind++; c.behind > maxBehind {
			c.tooMany("commands behind others")
			return
		}
	}
	if c.collect {
		if len(c.segments) == maxSegments {
			c.doubt("it has too many commands to be checked")
			return
		}
		c.keep(args, depth > 0)
	}
	name, rest := path.Base(args[0]), args[1:]
	if c.mutations {
		c.mutation(name, rest, depth)
	}
	c.evaluated(name, rest, depth)
	if standard(args[0]) {
		c.machine(name, rest)
	}
	switch name {
	case "kill":
		c.kill(rest)
	case "rm":
		c.remove(rest)
	case "dd":
		for _, a := range rest {
			if of, ok := strings.CutPrefix(a, "of="); ok {
				c.device(of, "dd")
			}
		}
	case "tee", "shred", "wipefs", "blkdiscard", "cp":
		for _, a := range rest {
			c.device(a, name)
		}
	case "eval":
		c.literal(strings.Join(pastEnd(rest), " "), depth)
	case "trap":
		if rest = pastEnd(rest); len(rest) > 1 && !strings.HasPrefix(rest[0], "-") {
			c.literal(rest[0], depth)
		}
	case "mapfile", "readarray", "compgen", "complete":
		for _, text := range grouped(rest, "C") {
			c.literal(text, depth)
		}
	case "find":
		c.find(rest, depth)
	default:
		if slices.Contains(shells, name) {
			texts, _ := started(rest)
			for _, text := range texts {
				c.literal(text, depth)
			}
		}
		c.wrapped(name, rest, depth)
	}
}

// pastEnd leaves out the word that ends the options.
func pastEnd(rest []string) []string {
	if len(rest) > 0 && rest[0] == "--" {
		return rest[1:]
	}
	return rest
}

// systemFolder is where the programs of a system lie, seen from the root or from a folder below it.
var systemFolder = pattern.New(`(^|/)(usr/(local/)?bin|sbin)$|(^|/root|\.\.)/bin$`)

// standard says whether a word names a program of the system: one of the project may have any name.
func standard(word string) bool {
	return !strings.Contains(word, "/") || systemFolder.MatchString(path.Dir(path.Clean(word)))
}

// machine refuses what is about the whole machine.
func (c *checker) machine(name string, rest []string) {
	switch name {
	case "sudo", "doas", "pkexec", "su", "runuser":
		c.deny("privilege", name+" asks for more privilege")
	case "shutdown", "reboot", "halt", "poweroff", "kexec":
		c.deny("machine down", name+" takes the machine down")
	case "init", "telinit":
		if len(rest) > 0 && (rest[0] == "0" || rest[0] == "6") {
			c.deny("machine down", name+" "+rest[0]+" takes the machine down")
		}
	case "systemctl":
		for _, a := range rest {
			if slices.Contains([]string{"reboot", "poweroff", "halt", "kexec"}, a) {
				c.deny("machine down", "systemctl "+a+" takes the machine down")
			}
		}
	default:
		if name == "mkfs" || strings.HasPrefix(name, "mkfs.") || name == "mkswap" {
			c.deny("file system", name+" makes a new file system")
		}
	}
}

// literal looks into a text that a shell runs.
func (c *checker) literal(src string, depth int) {
	if strings.Contains(src, dynamic) {
		c.doubt("part of it is computed at run time and was not checked")
		src = strings.ReplaceAll(src, dynamic, `"${_}"`)
	}
	c.script(src, depth+1)
}

func (c *checker) find(rest []string, depth int) {
	for i, a := range rest {
		switch a {
		case "-exec", "-execdir", "-ok", "-okdir":
			c.argv(rest[i+1:], depth+1)
		case "-delete":
			for n, root := range rest[:i] {
				switch {
				case slices.Contains([]string{"-H", "-L", "-P", "-D", "--"}, root), strings.HasPrefix(root, "-O"): // stand before the folders
				case n > 0 && rest[n-1] == "-D":
				case strings.HasPrefix(root, "-"):
					return
				case precious(root):
					c.deny("wipe", "find -delete of "+root)
				}
			}
		}
	}
}

// wrapping are the programs that run the command that follows them, by how many operands
// of their own come first.
var wrapping = [...][]string{
	strings.Fields(`env nohup nice ionice time command exec builtin setsid stdbuf xargs busybox unshare setpriv fakeroot strace ltrace unbuffer
		toybox prlimit numactl chronic eatmydata dbus-run-session xvfb-run torsocks proxychains proxychains4
		sudo doas pkexec nsenter watch parallel sem entr hyperfine gdb valgrind catchsegv systemd-run firejail run-one run-this-one
		keep-one-running ssh-agent choom cgexec uclampset setarch linux32 linux64 dbus-launch start-stop-daemon daemonize`),
	strings.Fields(`timeout flock taskset chroot chrt faketime perf rr script su runuser sg`),
	{},
	{"bwrap"}, // whose options have up to two values
}

// wrappers run the command that follows them; the number says how many
// operands of their own come first.
func wrappers(name string) (operands int, ok bool) {
	for n, names := range wrapping {
		if slices.Contains(names, name) {
			return n, true
		}
	}
	loader := name == "ld.so" || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl")
	return 0, loader
}

// scripted are the wrappers that give a word with blanks in it to a shell.
var scripted = strings.Fields("watch parallel sem entr hyperfine script su runuser sg flock")

func (c *checker) wrapped(name string, rest []string, depth int) {
	if operands, ok := wrappers(name); ok {
		c.candidates(name, rest, operands, depth)
	}
}

// kill refuses process -1, which is every process.
func (c *checker) kill(rest []string) {
	seenSignal := false
	for i, a := range rest {
		switch {
		case a == "--":
			seenSignal = true
		case a == "-1" && (seenSignal || i > 0):
			c.deny("kill all", "kill -1 ends every process")
		case a == "-s" || a == "-n" || strings.HasPrefix(a, "-"):
			seenSignal = true
		}
	}
}

func (c *checker) remove(rest []string) {
	recursive, flags := false, true
	for _, a := range rest {
		switch {
		case flags && a == "--":
			flags = false
		case flags && abbreviates(a, "--no-preserve-root"):
			c.deny("wipe", "rm --no-preserve-root")
		case flags && abbreviates(a, "--recursive"):
			recursive = true
		case flags && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--"):
			recursive = recursive || strings.ContainsAny(a, "rR")
		}
	}
	if !recursive {
		return
	}
	for _, a := range rest {
		if !strings.HasPrefix(a, "-") && precious(a) {
			c.deny("wipe", fmt.Sprintf("rm -r of %s", a))
		}
	}
}

// abbreviates says whether a word is a long option, or the beginning of one, which GNU's programs
// take for it.
func abbreviates(word, option string) bool {
	return len(word) > 2 && strings.HasPrefix(option, word)
}

var (
	userHome = pattern.New(`^(~[^/]*|/home(/[^/]+)?|/root|/Users(/[^/]+)?)$`)
	system   = pattern.New(`^/(bin|boot|dev|etc|lib|lib32|lib64|libx32|opt|proc|run|sbin|srv|sys|usr|var|System|Library|Applications)(/[^/]*)?$`)
)

// precious reports whether a path is the root, a system directory or a home, or
// everything directly in one.
func precious(p string) bool {
	if p == "" || p == dynamic {
		return false
	}
	for _, all := range []string{"/*", "/.*", "/{*,.*}", "/."} {
		if p == all {
			return true
		}
		p = strings.TrimSuffix(p, all)
	}
	if p = path.Clean(p); p == "/" {
		return true
	}
	if strings.HasPrefix(p, "/var/tmp") || strings.HasPrefix(p, "/dev/shm/") || strings.HasPrefix(p, "/run/user/") {
		return false
	}
	return userHome.MatchString(p) || system.MatchString(p)
}

var rawDevice = pattern.New(`^/dev/(sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d|rdisk\d|md\d|dm-\d|mapper/|loop\d|mem$|kmem$|port$)`)

func (c *checker) device(p, how string) {
	if rawDevice.MatchString(p) {
		c.deny("raw device", how+" writes to "+p)
	}
}

func (c *checker) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		if r.Word != nil {
			c.device(value(r.Word), "a redirection")
			c.writes = c.writes || value(r.Word) != "/dev/null"
		}
	default:
	}
}

// callsItself finds the fork bomb: a function that calls itself in a pipe or in
// the background.
func callsItself(f *syntax.FuncDecl) bool {
	if f.Name == nil { // the nameless function of other shells
		return false
	}
	name, found := f.Name.Value, false
	calls := func(s *syntax.Stmt) bool {
		call, ok := s.Cmd.(*syntax.CallExpr)
		return ok && len(call.Args) > 0 && value(call.Args[0]) == name
	}
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Stmt:
			found = found || (x.Background && calls(x))
		case *syntax.BinaryCmd:
			found = found || (x.Op == syntax.Pipe && (calls(x.X) || calls(x.Y)))
		}
		return !found
	})
	return found
}

// unnamed gives a coprocess that is a simple command its first word back, which the parser takes for a name:
// only a compound command can have one.
func unnamed(x *syntax.CoprocClause) {
	if x.Name == nil || x.Stmt == nil {
		return
	}
	switch cmd := x.Stmt.Cmd.(type) {
	case nil:
		x.Stmt.Cmd, x.Name = &syntax.CallExpr{Args: []*syntax.Word{x.Name}}, nil
	case *syntax.CallExpr:
		cmd.Args, x.Name = append([]*syntax.Word{x.Name}, cmd.Args...), nil
	}
}
