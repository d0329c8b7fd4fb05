package evidence

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
)

// wordText is a word without its quotes. What is only known at run time is "$x".
func wordText(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	var add func([]syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch x := p.(type) {
			case *syntax.Lit:
				b.WriteString(escapes.ReplaceAllString(x.Value, "$1"))
			case *syntax.SglQuoted:
				b.WriteString(x.Value)
			case *syntax.DblQuoted:
				add(x.Parts)
			default:
				b.WriteString("$x")
			}
		}
	}
	add(w.Parts)
	return b.String()
}

var escapes = pattern.New(`(?s)\\(.)`)

// starters are programs that only start another one, whose exit code is theirs.
var starters = []string{
	"timeout", "time", "env", "npx", "nice", "exec", "bundle", "uv", "poetry", "python", "python3", "-m", "run", "command", "builtin", "nohup", "sudo", "stdbuf", "setsid", "xvfb-run",
}

// wordsOf are the words of a command, without those of programs that only start another.
func wordsOf(c *syntax.CallExpr) []string {
	var words []string
	for _, w := range c.Args {
		words = append(words, wordText(w))
	}
	for len(words) > 1 && slices.Contains(starters, words[0]) {
		program := strings.HasPrefix(words[0], "python") // whose own options say what it does
		words = words[1:]
		for len(words) > 1 && words[0] != "" && (words[0][0] >= '0' && words[0][0] <= '9' || strings.Contains(words[0], "=") || words[0][0] == '-' && words[0] != "-m" && !program) {
			words = words[1:]
		}
	}
	if len(words) > 0 {
		words[0] = words[0][strings.LastIndexByte(words[0], '/')+1:]
	}
	return words
}

// inner is the script that a statement gives to another shell, to eval or to script(1), and
// whether a pipe in it fails with each of its stages.
func inner(s *syntax.Stmt) (file *syntax.File, pipefail bool) {
	text := ""
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		text, pipefail = given(wordsOf(x), s.Redirs)
	case *syntax.BinaryCmd: // echo SCRIPT | bash
		c, prints := x.X.Cmd.(*syntax.CallExpr)
		shell, ok := x.Y.Cmd.(*syntax.CallExpr)
		if x.Op != syntax.Pipe || !prints || !ok || !printsOnly(c) || len(shell.Args) != 1 || !isShell(wordsOf(shell)[0]) {
			return nil, false
		}
		text = strings.Join(wordsOf(c)[1:], " ")
	}
	if text == "" {
		return nil, false
	}
	file, err := parseBash(text)
	if err != nil {
		return nil, false
	}
	return file, pipefail || setsPipefail(file)
}

func given(words []string, redirs []*syntax.Redirect) (text string, pipefail bool) {
	if len(words) == 0 {
		return "", false
	}
	switch {
	case words[0] == "eval":
		return strings.Join(words[1:], " "), true
	case words[0] == "script":
		for i, w := range words[1:] {
			if option := scriptCommand.MatchString(w); option && i+2 < len(words) {
				return words[i+2], false
			}
		}
	case isShell(words[0]):
		if script, ok := shellScript(words); ok {
			return script, slices.Contains(words, "pipefail")
		}
		for _, r := range redirs {
			if r.Hdoc != nil {
				return wordText(r.Hdoc), slices.Contains(words, "pipefail")
			} else if r.Op == syntax.WordHdoc {
				return wordText(r.Word), slices.Contains(words, "pipefail")
			}
		}
	}
	return "", false
}

// scriptCommand finds the option of script(1) that names a command, and statusReturned the one
// without which it ends with 0 whatever that command did.
var (
	scriptCommand  = pattern.New(`^(?:-[a-z]*c|--command)$`)
	statusReturned = pattern.New(`^(?:-[a-z]*e[a-z]*|--return)$`)
)

func isShell(name string) bool {
	return slices.Contains([]string{"bash", "sh", "dash", "zsh", "ksh", "ash"}, name)
}

// Bounds of what the bodies of functions add to a script, in nodes of its tree.
const (
	maxBody = 2_000
	maxAdds = 50_000
)

// maxNested is how deep scripts for other shells are read.
const maxNested = 8

// opened puts the script that a statement gives to another shell in its place, and returns what
// hides the exit code there.
func opened(s *syntax.Stmt, depth int) string {
	file, pipefail := inner(s)
	if file == nil {
		return ""
	}
	if depth == maxNested {
		return "scripts within scripts are too deep to be read"
	}
	if hasRunner(file) {
		if !pipefail && hasPipe(file) {
			return "a pipe without pipefail"
		}
		if c, ok := s.Cmd.(*syntax.CallExpr); ok {
			if words := wordsOf(c); words[0] == "script" && !slices.ContainsFunc(words, statusReturned.MatchString) {
				return "script ends with 0 without -e"
			}
		}
	}
	why := expand(file, depth+1)
	s.Cmd, s.Redirs = &syntax.Subshell{Stmts: file.Stmts}, nil
	return why
}

// expand puts the bodies of a script's functions and the scripts for other shells where they
// are called, and returns what makes the exit code of a command mean nothing: a function, an
// alias or a trap of its own.
func expand(file *syntax.File, depth int) string {
	bodies, left, why := map[string]*syntax.Stmt{}, maxAdds, ""
	aliases := false
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		if hides := opened(s, depth); hides != "" {
			why = hides
			return false
		}
		switch x := s.Cmd.(type) {
		case *syntax.FuncDecl:
			if x.Name == nil || x.Body == nil {
				return true
			}
			syntax.Walk(x.Body, visit)
			if name := x.Name.Value; isTool(name) {
				why = name + " is a function of the command's own"
			} else if size(x.Body) <= maxBody {
				bodies[name] = x.Body
			}
			s.Cmd = &syntax.CallExpr{Args: []*syntax.Word{{Parts: []syntax.WordPart{&syntax.Lit{Value: ":"}}}}}
			return false
		case *syntax.CallExpr:
			words := wordsOf(x)
			if len(words) == 0 {
				return true
			}
			aliases = aliases || words[0] == "shopt" && slices.Contains(words, "expand_aliases")
			switch body := bodies[words[0]]; {
			case words[0] == "alias" && len(words) > 1 && aliases:
				why = "alias gives a name to another command"
			case words[0] == "trap" && trapPasses(words[1:], bodies):
				why = "its trap decides the exit code"
			case body != nil && left > 0:
				left -= size(body)
				s.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{body}}
				return false
			}
		}
		return true
	}
	syntax.Walk(file, visit)
	return why
}

// isTool says whether a function of a name stands for a program whose exit code means something.
func isTool(name string) bool {
	return isTest([]string{name, "test", "--test"}) || slices.Contains([]string{"python", "python3", "node", "curl", "grep", "diff", "cmp", "git", "test", "exit"}, name)
}

func size(n syntax.Node) int {
	count := 0
	syntax.Walk(n, func(syntax.Node) bool { count++; return count <= maxBody })
	return count
}

// trapPasses says whether a trap that runs when a script ends or fails ends it with 0.
func trapPasses(words []string, bodies map[string]*syntax.Stmt) bool {
	if len(words) < 2 || !slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.Contains([]string{"EXIT", "0", "ERR", "DEBUG"}, strings.TrimPrefix(strings.ToUpper(w), "SIG"))
	}) {
		return false
	}
	file, err := parseBash(words[0])
	if err != nil {
		return false
	}
	passes := false
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			words := wordsOf(c)
			passes = passes || words[0] == "exit" && len(words) > 1 && words[1] == "0" || wordText(c.Args[0]) == "exec" && len(c.Args) > 1
			if body := bodies[words[0]]; body != nil {
				syntax.Walk(body, visit)
			}
		}
		return !passes
	}
	syntax.Walk(file, visit)
	return passes
}
