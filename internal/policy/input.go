package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
)

// shells are the programs that run text.
var shells = strings.Fields("sh bash dash zsh ksh ash rbash mksh yash fish csh tcsh")

// longOptions are those of bash, which may have one dash.
var longOptions = strings.Fields("debug debugger dump-po-strings dump-strings help init-file login noediting noprofile norc posix protected rcfile restricted verbose version")

// optionName is what stands behind -o or -O, and is no text that a shell runs.
var optionName = pattern.New(`^[a-z_]+$`)

// started says what a shell is started with: the texts that it may run by its option c, or the
// file. A word that may be the value of an option, in one shell or another, may be the text as well.
func started(rest []string) (texts []string, file string) {
	var values []string // what may be the value of an option
	runs, reads, waiting := false, false, 0
	for i := 0; i < len(rest) && file == ""; i++ {
		a := rest[i]
		long := strings.TrimLeft(a, "-")
		switch {
		case a == "-" || a == "--":
			if i+1 < len(rest) {
				file = rest[i+1]
			}
			i = len(rest)
		case a != long && slices.Contains(longOptions, long):
			if long == "rcfile" || long == "init-file" {
				i++
			}
		case strings.HasPrefix(a, "--"):
		case strings.HasPrefix(a, "-"), strings.HasPrefix(a, "+"):
			runs = runs || strings.Contains(a, "c")
			reads = reads || strings.Contains(a, "s")
			waiting += strings.Count(a, "o") + strings.Count(a, "O")
		case waiting > 0:
			waiting--
			values = append(values, a)
		default:
			file = a
		}
	}
	switch {
	case !runs && reads:
		return nil, ""
	case !runs:
		return nil, file
	case file == "":
		return values, ""
	}
	values = slices.DeleteFunc(values, optionName.MatchString)
	return append(values, file), ""
}

// open are files that are what the command is given.
var open = pattern.New(`^(/+|(\.\.?/+)*\.\./+)(\.?/)*(dev|proc)/`)

// receivers looks in a statement for those who run what it is given: shells run it as a text,
// and xargs and parallel put it behind their words.
func (c *checker) receivers(s *syntax.Stmt) (shell bool, filled [][]string) {
	syntax.Walk(s, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		args := c.expanded(call.Args)
		name := path.Base(args[0])
		if name == "." || name == "source" {
			rest := pastEnd(args[1:])
			shell = shell || len(rest) > 0 && open.MatchString(rest[0])
		}
		if _, wraps := wrappers(name); !wraps {
			args = args[:1]
		}
		shell = shell || slices.ContainsFunc(args, func(a string) bool {
			return slices.Contains(shells, path.Base(a)) || path.Base(a) == "parallel"
		})
		if at := slices.IndexFunc(args, func(a string) bool { return path.Base(a) == "xargs" || path.Base(a) == "parallel" }); at >= 0 {
			filled = append(filled, args[at:])
		}
		return true
	})
	return shell, filled
}

// input looks into the text that a command is given in place of a file, and into what is said for
// a shell in its words, as in eval "$(echo text)" and bash <(echo text).
func (c *checker) input(s *syntax.Stmt, depth int) {
	var text strings.Builder
	if c.given(&text, s); text.Len() > 0 {
		c.feed(s, text.String(), depth)
	}
	c.fedBy(s, depth)
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || c.collect || len(call.Args) < 2 {
		return
	}
	name := path.Base(value(call.Args[0]))
	if name == "eval" || name == "." || name == "source" || slices.Contains(shells, name) {
		text.Reset()
		for _, w := range call.Args[1:] {
			c.says(&text, w)
		}
		c.literal(text.String(), depth)
	}
}

// fedBy looks into what a command says for those that it is led to, as in echo text > >(sh).
func (c *checker) fedBy(s *syntax.Stmt, depth int) {
	for _, r := range s.Redirs {
		if s.Cmd == nil || r.Word == nil {
			continue
		}
		for _, part := range r.Word.Parts {
			to, ok := part.(*syntax.ProcSubst)
			if !ok || to.Op == syntax.CmdIn {
				continue
			}
			var text strings.Builder
			c.says(&text, s.Cmd)
			for _, other := range to.Stmts {
				c.feed(other, text.String(), depth)
			}
		}
	}
}

// piped looks into what a command says for the next one.
func (c *checker) piped(b *syntax.BinaryCmd, depth int) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		return
	}
	if shell, filled := c.receivers(b.Y); !shell && len(filled) == 0 {
		return
	}
	if c.fed > maxFed {
		c.tooMany("commands that say what others run")
		return
	}
	c.fed += int(b.X.End().Offset() - b.X.Pos().Offset())
	var text strings.Builder
	c.says(&text, b.X)
	if text.Len() > 0 {
		c.feed(b.Y, text.String(), depth)
	}
}

// feed gives a text to a statement. That a shell runs what it is given is a doubt of its own
// where commands are collected.
func (c *checker) feed(s *syntax.Stmt, text string, depth int) {
	shell, filled := c.receivers(s)
	if shell && !c.collect {
		c.literal(text, depth)
	}
	for _, args := range filled {
		c.argv(fill(args, strings.Fields(text)), depth+1)
	}
}

// fill puts words where xargs and parallel put them: in the place of {} or of the word that an option
// names, else behind their own.
func fill(args, given []string) []string {
	place := "{}"
	if own := grouped(args, "I"); len(own) > 0 {
		place = own[0]
	}
	for _, a := range args {
		if own := placeOption.FindStringSubmatch(a); own != nil {
			place = own[1]
		}
	}
	var out []string
	found := false
	for i, a := range args {
		switch {
		case !strings.Contains(a, place), strings.HasPrefix(a, "-"), i > 0 && args[i-1] == "-I":
			out = append(out, a)
		case a == place:
			out, found = append(out, given...), true
		default:
			out, found = append(out, strings.ReplaceAll(a, place, strings.Join(given, " "))), true
		}
	}
	if !found {
		out = append(out, given...)
	}
	return out
}

// placeOption names the place of words, in the word of the option itself.
var placeOption = pattern.New(`^(?:--replace=|-[a-hj-zA-HJ-Z0-9]*i)(.+)$`)

// given writes the texts that a statement is given in place of a file.
func (c *checker) given(b *strings.Builder, s *syntax.Stmt) {
	for _, r := range s.Redirs {
		switch {
		case r.Op == syntax.WordHdoc && r.Word != nil:
			b.WriteString(value(r.Word) + "\n")
		case (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) && r.Hdoc != nil:
			b.WriteString(value(r.Hdoc) + "\n")
		case r.Op == syntax.RdrIn && r.Word != nil:
			c.says(b, r.Word)
		}
	}
}

// says writes what the commands of a node say as far as it is shown: the words of echo and
// printf, and what any of them is given in place of a file.
func (c *checker) says(b *strings.Builder, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Stmt:
			c.given(b, x)
		case *syntax.Redirect:
			return false // given has it
		case *syntax.CallExpr:
			args := c.expanded(x.Args)
			if len(args) < 2 {
				break
			}
			switch path.Base(args[0]) {
			case "echo":
				for args = args[1:]; len(args) > 0 && echoOption.MatchString(args[0]); {
					args = args[1:]
				}
				text := strings.Join(args, " ")
				b.WriteString(text + "\n")
				if other := escaped(text); other != text { // most echos, and that of bash with -e
					b.WriteString(other + "\n")
				}
			case "printf":
				printed(b, pastEnd(args[1:]))
			}
		}
		return true
	})
}

var echoOption = pattern.New(`^-[neE]+$`)

// escaped is a text after printf has resolved what stands behind its backslashes.
func escaped(text string) string {
	parts := strings.Split(text, dynamic)
	for i, part := range parts {
		if resolved, _, err := expand.Format(nil, part, nil); err == nil {
			parts[i] = strings.ReplaceAll(resolved, "\x00", "")
		}
	}
	return strings.Join(parts, dynamic)
}

// printed writes what printf prints: its format as often as there are words for it.
func printed(b *strings.Builder, args []string) {
	if len(args) == 0 {
		return
	}
	format, left := escaped(args[0]), args[1:]
	for {
		before := len(left)
		b.WriteString(verb.ReplaceAllStringFunc(format, func(how string) string {
			left = left[min(len(left), strings.Count(how, "*")):] // its width and precision
			if len(left) == 0 {
				return ""
			}
			one := left[0]
			left = left[1:]
			switch how[len(how)-1] {
			case 'b':
				return escaped(one)
			case 'c':
				return one[:min(1, len(one))]
			}
			return one
		}))
		if len(left) == 0 || len(left) == before {
			b.WriteString("\n")
			return
		}
	}
}

// verb is where printf puts a word.
var verb = pattern.New(`%[-+ #'0-9.*]*[sbqcdi]`)
