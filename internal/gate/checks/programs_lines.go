package checks

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/cmdline"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Bounds for the texts in which command lines are looked for.
const (
	maxTexts = 4000
	maxText  = 1 << 20 // bytes
)

// A line is a command line of a program.
type line struct {
	args []string
	text string // as it is typed
	dir  string // in which it is run
	path string // where it stands; empty: nowhere
	at   int
}

// Reasons for which command lines are left out.
const (
	unplain  = "they are more than plain words"
	unnamed  = "they name files that the tree does not have"
	slow     = "they do not end in a few seconds on the base, or read what never comes"
	limited  = "they passed a limit of the sandbox"
	unsteady = "they differ from themselves"
	overmuch = "there are more than are run of one program"
)

// linesOf are the command lines of each program: without arguments, the help, and those
// that stand in the base's tree, those near what changed first.
func (u *use) linesOf(list []provided) [][]line {
	out := make([][]line, len(list))
	read := 0
	for _, name := range u.near(u.in.Files[Base]) {
		if !cmdline.Holds(name, languages.IsTestSource(name)) || read == maxTexts {
			continue
		}
		src, err := ecosystem.ReadInTree(u.in.Base.Dir, name)
		if err != nil || len(src) > maxText {
			continue
		}
		read++
		for _, l := range cmdline.Lines(name, src) {
			for i, p := range list {
				if n := calls(p.sides[Base], l.First); n > 0 {
					u.keep(&out[i], name, l, n)
					break
				}
			}
		}
	}
	for i, p := range list {
		name := p.sides[Base].Name
		var own []line
		for _, args := range [][]string{{"--help"}, nil} {
			l := line{args: args, text: strings.TrimSpace(name + " " + strings.Join(args, " ")), dir: "."}
			if !has(out[i], l) {
				own = append(own, l)
			}
		}
		all := append(own, out[i]...)
		for _, l := range all[min(len(all), maxLines):] {
			u.leave(overmuch, l.text)
		}
		out[i] = all[:min(len(all), maxLines)]
	}
	return out
}

// near sorts files by how near they are to what changed.
func (u *use) near(files []string) []string {
	changed := u.in.Change.Paths()
	nearness := map[string]int{}
	of := func(name string) int {
		dir := path.Dir(name)
		if n, ok := nearness[dir]; ok {
			return n
		}
		best := 0
		parts := strings.Split(dir, "/")
		for _, c := range changed {
			n := 0
			for i, p := range strings.Split(path.Dir(c), "/") {
				if i >= len(parts) || parts[i] != p {
					break
				}
				n++
			}
			best = max(best, n)
		}
		nearness[dir] = best
		return best
	}
	return slices.SortedStableFunc(slices.Values(files), func(a, b string) int { return cmp.Or(of(b)-of(a), cmp.Compare(a, b)) })
}

// calls is how many words call a program; 0: it is not called.
func calls(p ecosystem.Program, words []string) int {
	for _, c := range p.Calls {
		if len(words) >= len(c) && slices.Equal(words[:len(c)], c) {
			return len(c)
		}
	}
	return 0
}

func has(list []line, l line) bool {
	return slices.ContainsFunc(list, func(o line) bool { return o.dir == l.dir && slices.Equal(o.args, l.args) })
}

// keep keeps a command line that can be run, n words of which call the program.
func (u *use) keep(list *[]line, name string, l cmdline.Line, n int) {
	text := strings.Join(l.First, " ")
	if l.Words == nil {
		u.leave(unplain, text)
		return
	}
	text = ecosystem.ShellWords(ecosystem.Command{Argv: l.Words})
	found := line{args: l.Words[n:], text: text, dir: ".", path: name, at: l.At}
	for _, dir := range []string{".", path.Dir(name)} {
		if u.names(dir, found.args) {
			found.dir = dir
			if !has(*list, found) {
				*list = append(*list, found)
			}
			return
		}
	}
	u.leave(unnamed, text)
}

var (
	fileName = pattern.New(`^[^\s:]*(/[^\s:]*|[\w-]\.[A-Za-z][A-Za-z0-9]{0,4})$`)
	outFlag  = pattern.New(`^--?o(ut.*)?$`)
)

// names says whether all files that arguments name are in the tree, seen from a folder.
// What is written is named behind a flag.
func (u *use) names(dir string, args []string) bool {
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			_, value, ok := strings.Cut(a, "=")
			if !ok {
				continue
			}
			a = value
		} else if i > 0 && outFlag.MatchString(args[i-1]) && !strings.HasPrefix(a, "/") && !strings.Contains(a, "..") {
			continue
		}
		if !fileName.MatchString(a) {
			continue
		}
		at := path.Join(dir, a)
		if path.IsAbs(a) || strings.HasPrefix(at, "../") || !slices.ContainsFunc(u.in.Files[Base], func(f string) bool { return ecosystem.Inside(at, f) }) {
			return false
		}
	}
	return true
}

// leave counts a command line that is not compared.
func (u *use) leave(why, text string) {
	for i := range u.out.LeftOut {
		if l := &u.out.LeftOut[i]; l.Why == why {
			l.Functions = append(l.Functions, text)
			return
		}
	}
	u.out.LeftOut = append(u.out.LeftOut, LeftOut{why, []string{text}})
}
