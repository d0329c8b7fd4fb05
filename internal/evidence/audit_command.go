package evidence

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// A likeness says how close a claimed command is to one that ran.
type likeness int

const (
	different likeness = iota
	part               // one is a part of the other, or a setting was left out
	same
)

// A spelling is a command with what makes no difference taken away.
type spelling struct {
	key   string   // of the whole
	shape string   // the commands in it and how they hang together, which quotes do not show in key
	bare  string   // likewise, without any variables set before it
	parts []string // keys of the simple commands and pipelines in it
	raw   string
	dirs  []string // folders that it goes to first, one after the other
	cwd   string   // of a record, where it began; empty: it is a claim's, which does not say
}

// readCommand reads a claimed command.
func readCommand(command string) spelling {
	command = strings.TrimSpace(strings.ReplaceAll(command, "\r\n", "\n"))
	command = strings.TrimPrefix(command, "$ ")
	s := spelling{raw: command}
	file, err := parseBash(command)
	if err != nil {
		s.key = loose(command)
		s.bare = s.key
		return s
	}
	s.parts, s.dirs = partKeys(file), firstDirs(file)
	trimmed(file, benign)
	s.key, s.shape = keyOf(file), shapeOf(file)
	file, _ = parseBash(command) // trimmed changed the tree
	s.bare = keyOf(trimmed(file, func(*syntax.Assign) bool { return true }))
	return s
}

// readRecord reads the command of a record.
func readRecord(r Record) spelling {
	s := readCommand(recordText(r))
	s.cwd = path.Clean(r.Cwd)
	return s
}

// recordText is a record's command as a shell would be given it.
func recordText(r Record) string {
	if r.Command != "" || len(r.Argv) == 0 {
		return r.Command
	}
	if script, ok := shellScript(r.Argv); ok {
		return script
	}
	words := make([]string, len(r.Argv))
	for i, w := range r.Argv {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			q = strconv.Quote(w)
		}
		words[i] = q
	}
	return strings.Join(words, " ")
}

// shellScript returns the script of argv such as bash -o pipefail -c SCRIPT.
func shellScript(argv []string) (string, bool) {
	name := argv[0][strings.LastIndexByte(argv[0], '/')+1:]
	if !isShell(name) {
		return "", false
	}
	for i, a := range argv[1:] {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+2 < len(argv) {
			return argv[i+2], true
		}
	}
	return "", false
}

func parseBash(src string) (*syntax.File, error) {
	return shelltext.Parse(src)
}

// keyOf writes a tree as its key.
func keyOf(n syntax.Node) string {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.Minify(true)).Print(&b, n); err != nil {
		return ""
	}
	return loose(b.String())
}

// shapeOf is which commands a tree has, and how they hang together: a text between quotes
// that reads like commands has none.
func shapeOf(file *syntax.File) string {
	var b strings.Builder
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.BinaryCmd:
			b.WriteString(x.Op.String() + " ")
		case *syntax.Redirect:
			b.WriteString(x.Op.String() + " ")
		case syntax.Command, *syntax.CmdSubst, *syntax.ProcSubst:
			fmt.Fprintf(&b, "%T ", x)
		}
		return true
	})
	return b.String()
}

var (
	quotes   = strings.NewReplacer(`"`, "", "'", "", "\\\n", " ", "`", "")
	looseEnd = pattern.New(`[;\s]+$`)
)

// loose folds blanks and quotes; it is also all that is done to a command that
// does not parse.
func loose(s string) string {
	return looseEnd.ReplaceAllString(strings.Join(strings.Fields(quotes.Replace(s)), " "), "")
}

// folded folds blanks and leaves quotes, between which nothing is a command.
func folded(s string) string {
	return looseEnd.ReplaceAllString(strings.Join(strings.Fields(strings.ReplaceAll(s, "\\\n", " ")), " "), "")
}

// like compares a claim with a record. With cited, the claim may leave out the
// middle of a long command.
func (a Auditor) like(claim, ran spelling, cited bool) likeness {
	if claim.key == "" || ran.key == "" || !a.sameFolder(claim, ran) {
		return different
	}
	switch {
	case claim.key == ran.key && claim.shape != ran.shape:
		return different
	case claim.key == ran.key:
		return same
	case cited && abbreviates(claim.raw, ran.raw):
		return same
	case claim.bare == ran.bare, slices.Contains(ran.parts, claim.key), slices.Contains(claim.parts, ran.key):
		return part
	}
	return different
}

// sameFolder keeps what ran elsewhere apart from what ran in the worktree, and folders of
// that from each other. A claim that names no folder may be of any in the worktree.
func (a Auditor) sameFolder(claim, ran spelling) bool {
	where := a.folder(ran)
	if names := claim.cwd != "" || len(claim.dirs) > 0; where != a.folder(claim) && (names || !filepath.IsLocal(where)) {
		return false
	}
	for _, e := range a.Elsewhere {
		if e != "" && strings.Contains(quotes.Replace(ran.raw), e) != strings.Contains(quotes.Replace(claim.raw), e) {
			return false
		}
	}
	return true
}

// folder is where a command runs, relative to the worktree; a folder elsewhere is as the
// command names it.
func (a Auditor) folder(s spelling) string {
	at := cmp.Or(s.cwd, ".")
	for _, dir := range s.dirs {
		for _, here := range []string{"$PWD", "${PWD}"} {
			if rest, ok := strings.CutPrefix(dir, here); ok && (rest == "" || rest[0] == '/') {
				dir = "." + rest
			}
		}
		inTree := false
		for _, tree := range a.Trees {
			if rest, ok := strings.CutPrefix(dir, tree); ok && (rest == "" || rest[0] == '/') {
				dir, inTree = "."+rest, true
			}
		}
		switch {
		case inTree:
			at = path.Clean(dir)
		case path.IsAbs(dir) && len(a.Trees) == 0:
			at = "."
		case path.IsAbs(dir), strings.HasPrefix(dir, "$"), strings.HasPrefix(dir, "~"), dir == "-":
			at = "/" + path.Clean(dir)
		default:
			at = path.Join(at, dir)
		}
	}
	return at
}

// firstDirs are the folders that a script goes to before it does anything.
func firstDirs(file *syntax.File) []string {
	var out []string
	for _, s := range file.Stmts {
		dirs, only := leadingCds(s)
		if out = append(out, dirs...); !only {
			break
		}
	}
	return out
}

// leadingCds are the folders that a statement goes to first, and whether it does nothing else.
func leadingCds(s *syntax.Stmt) (dirs []string, only bool) {
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		if isCd(s) {
			if len(x.Args) < 2 {
				return []string{"~"}, true
			}
			return []string{keyOf(x.Args[len(x.Args)-1])}, true
		}
		return nil, strictness(s)
	case *syntax.BinaryCmd:
		if x.Op != syntax.AndStmt || len(s.Redirs) > 0 || s.Negated || s.Background {
			return nil, false
		}
		if dirs, only = leadingCds(x.X); !only {
			return dirs, false
		}
		more, only := leadingCds(x.Y)
		return append(dirs, more...), only
	}
	return nil, false
}

var commandCut = pattern.New(`(?m)(?:^|[\s"'])(?:…|\.\.\.|# \.\.\.)(?:[\s"']|$)|…`)

// abbreviates reports whether claim is ran with its middle left out.
func abbreviates(claim, ran string) bool {
	pieces := commandCut.Split(claim, -1)
	if len(pieces) < 2 || len(loose(pieces[0])) < 8 {
		return false
	}
	text, first := folded(ran), true
	for _, p := range pieces {
		p = folded(p)
		i := strings.Index(text, p)
		if i < 0 || (first && i != 0) {
			return false
		}
		text, first = text[i+len(p):], false
	}
	return true
}

// statements splits a claimed command into what may have run one by one.
func statements(command string) []string {
	file, err := parseBash(command)
	if err != nil {
		return nil
	}
	var out []string
	for _, s := range file.Stmts {
		out = append(out, conjuncts(s)...)
	}
	return out
}

func conjuncts(s *syntax.Stmt) []string {
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.AndStmt && !s.Negated && len(s.Redirs) == 0 {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	if isCd(s) {
		return nil
	}
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, s); err != nil {
		return nil
	}
	return []string{b.String()}
}

func isCd(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && (c.Args[0].Lit() == "cd" || c.Args[0].Lit() == "pushd")
}

// partKeys returns the keys of all pipelines and simple commands in a script.
func partKeys(file *syntax.File) []string {
	var out []string
	add := func(s *syntax.Stmt) {
		bare := *s
		bare.Redirs, bare.Negated, bare.Background = nil, false, false
		if call, ok := bare.Cmd.(*syntax.CallExpr); ok {
			if len(call.Args) == 0 {
				return // variables alone
			}
			plain := *call
			plain.Assigns = nil
			bare.Cmd = &plain
		}
		if k := keyOf(&bare); k != "" && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			add(s)
		}
		return true
	})
	return out
}

// printsOnly reports whether a command's words are text, not commands of interest.
func printsOnly(c *syntax.CallExpr) bool {
	return len(c.Args) > 0 && (c.Args[0].Lit() == "echo" || c.Args[0].Lit() == "printf")
}

// trimmed takes away what makes no difference: cd before the command, 2>&1,
// | tail, and the variables that drop says.
func trimmed(file *syntax.File, drop func(*syntax.Assign) bool) *syntax.File {
	for len(file.Stmts) > 1 && (isCd(file.Stmts[0]) || strictness(file.Stmts[0])) {
		file.Stmts = file.Stmts[1:]
	}
	for i, s := range file.Stmts {
		file.Stmts[i] = trimStmt(s, i == 0)
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Stmt:
			x.Comments = nil
			x.Redirs = slices.DeleteFunc(x.Redirs, merges)
		case *syntax.CallExpr:
			if len(x.Args) > 0 {
				x.Assigns = slices.DeleteFunc(x.Assigns, drop)
			}
		}
		return true
	})
	file.Last = nil
	return file
}

// trimStmt drops the trailing "| tail" of one statement, and of the first the leading
// "cd … &&".
func trimStmt(s *syntax.Stmt, first bool) *syntax.Stmt {
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok || len(s.Redirs) > 0 || s.Negated || s.Background {
		return s
	}
	switch b.Op {
	case syntax.AndStmt:
		_, only := leadingCds(b.X)
		b.X, b.Y = trimStmt(b.X, first), trimStmt(b.Y, first && only)
		if first && isCd(b.X) || strictness(b.X) {
			return b.Y
		}
		return s
	case syntax.Pipe, syntax.PipeAll:
		if shows(b.Y) {
			return trimStmt(b.X, first)
		}
	default:
	}
	return s
}

// shows reports whether a stage of a pipe only cuts what is shown.
func shows(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	switch c.Args[0].Lit() {
	case "tail", "head", "tee", "less", "more":
		return true
	case "cat":
		return len(c.Args) == 1
	}
	return false
}

// strictness reports whether a statement only asks bash to be strict.
func strictness(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) < 2 || c.Args[0].Lit() != "set" {
		return false
	}
	for _, w := range c.Args[1:] {
		if l := w.Lit(); !strings.HasPrefix(l, "-") && !slices.Contains([]string{"pipefail", "errexit", "nounset"}, l) {
			return false
		}
	}
	return true
}

// merges reports whether a redirection joins stderr to stdout.
func merges(r *syntax.Redirect) bool {
	return r.Op == syntax.DplOut && r.N != nil && r.N.Value == "2" && r.Word.Lit() == "1"
}

// benign reports whether a variable set before a command changes how it shows its
// work, not what it does.
func benign(a *syntax.Assign) bool {
	if a.Name == nil {
		return false
	}
	return slices.Contains([]string{
		"LANG", "LC_ALL", "TZ", "CI", "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "GOCACHE", "GOTMPDIR", "TMPDIR",
		"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "RUST_BACKTRACE", "GOTRACEBACK", "PAGER", "GIT_PAGER",
	}, a.Name.Value)
}

// statusEchoed finds the exit codes that a masked command printed itself, as in
// cmd; echo "exit=$?". They count only where the check quotes those lines, and only where
// each thing that the command does is followed by one. The first that is not 0 is its exit.
func statusEchoed(r Record, c report.AgentCheck, p printed) (int, bool) {
	file, err := parseBash(recordText(r))
	if err != nil || len(file.Stmts) < 2 || expand(file, 0) != "" {
		return 0, false
	}
	var echoes []*regexp.Regexp
	for i := 0; i < len(file.Stmts); i++ {
		s := file.Stmts[i]
		if !judges(s) {
			continue
		}
		if i+1 == len(file.Stmts) || maskedStmt(s, false) != "" {
			return 0, false
		}
		i++
		echo, ok := file.Stmts[i].Cmd.(*syntax.CallExpr)
		if !ok || !printsOnly(echo) || !readsStatus(echo) {
			return 0, false
		}
		var words []string
		for _, w := range wordsOf(echo)[1:] {
			words = append(words, strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSuffix(w, `\n`)), `\$x`, `\d+`))
		}
		line, err := regexp.Compile("^" + fold(strings.Join(words, " ")) + "$")
		if err != nil { // it is not UTF-8
			return 0, false
		}
		echoes = append(echoes, line)
	}
	if len(echoes) == 0 {
		return 0, false
	}
	lines := strings.Split(p.stdout, "\n")
	if len(echoes) == 1 { // what was printed before may look like it
		lines = lines[len(lines)-1:]
	}
	exit, found := 0, 0
	for _, line := range lines {
		if !slices.ContainsFunc(echoes, func(e *regexp.Regexp) bool { return e.MatchString(line) }) {
			continue
		}
		n, ok := lastNumber(line)
		if found == len(echoes) || !ok || !echoes[found].MatchString(line) || !strings.Contains("\n"+fold(c.Output)+"\n", "\n"+line+"\n") {
			return 0, false
		}
		exit = cmp.Or(exit, n)
		found++
	}
	return exit, found == len(echoes)
}

// readsStatus reports whether a part of a command reads how the one before it ended.
func readsStatus(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && (p.Param.Value == "?" || p.Param.Value == "PIPESTATUS") {
			found = true
		}
		return !found
	})
	return found
}

var number = pattern.New(`\d+`)

func lastNumber(s string) (int, bool) {
	all := number.FindAllString(s, -1)
	if len(all) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(all[len(all)-1])
	return n, err == nil
}
