package evidence

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// maskOf says how a record's command hides the exit code of what it is about,
// empty when it does not. run_bash runs under pipefail, so a pipe hides nothing
// there; a gate's argv that names a shell has what it asks for.
func maskOf(r Record) string {
	file, err := parseBash(recordText(r))
	if errors.Is(err, shelltext.ErrBounds) {
		return "a text that is too long or deep to be read"
	}
	if err != nil {
		return ""
	}
	pipefail := r.Command != "" || len(r.Argv) == 0 || slices.Contains(r.Argv, "pipefail") || setsPipefail(file)
	if !pipefail && hasPipe(file) {
		return "a pipe without pipefail"
	}
	return maskedScript(file)
}

// maskedScript looks at a script. It changes its tree.
func maskedScript(file *syntax.File) string {
	if why := expand(file, 0); why != "" {
		return why
	}
	if why := unsetStrictness(file); why != "" {
		return why
	}
	if why := maskedWords(file); why != "" {
		return why
	}
	return maskedStmts(file.Stmts, false)
}

// maskedStmts looks at a list of statements, of which the last one's exit is
// the list's. Where it is strict, one that fails before that ends the script.
func maskedStmts(stmts []*syntax.Stmt, strict bool) string {
	if len(stmts) == 0 {
		return ""
	}
	for i, s := range stmts[:len(stmts)-1] {
		strict = (strict || setsErrexit(s)) && !unsetsErrexit(s)
		behind := stmts[i+1:]
		if s.Background && hasRunner(s) && !waited(behind) {
			return "it runs in the background"
		}
		if !judges(s) || stops(s) || inBase(s) || captured(s, behind) || statusKept(behind) || statusRead(s, behind[0], len(behind) == 1) || tallied(s, behind) || built(s, behind) {
			continue
		}
		// What is started in the background and waited for is a server, mostly.
		if last := stmts[len(stmts)-1]; !cannotFail(last) && !tests(s) {
			continue
		}
		if !strict {
			return "what follows " + first(s) + " decides the exit code"
		}
		if why := maskedStrict(s); why != "" {
			return why
		}
	}
	return maskedStmt(stmts[len(stmts)-1], strict)
}

// maskedStrict looks at a statement that ends a strict script where it fails.
func maskedStrict(s *syntax.Stmt) string {
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	switch {
	case s.Background:
		return ""
	case s.Negated:
		return "! of " + first(s) + " never ends the script"
	case ok && b.Op == syntax.AndStmt && judges(b.X):
		return "&& behind " + first(b.X) + " hides that it failed"
	}
	return maskedStmt(s, true)
}

// maskedStmt looks at one statement whose exit code counts.
func maskedStmt(s *syntax.Stmt, strict bool) string {
	if s.Background || s.Coprocess {
		return "it runs in the background"
	}
	switch x := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return maskedBinary(x, strict)
	case *syntax.Block:
		return maskedStmts(x.Stmts, strict)
	case *syntax.Subshell:
		return maskedStmts(x.Stmts, strict)
	case *syntax.TimeClause:
		if x.Stmt != nil {
			return maskedStmt(x.Stmt, strict)
		}
	case *syntax.CoprocClause:
		return "it runs in the background"
	case *syntax.IfClause:
		return maskedIf(x, strict)
	case *syntax.CaseClause:
		for _, i := range x.Items {
			if why := maskedStmts(i.Stmts, strict); why != "" {
				return why
			}
		}
	case *syntax.ForClause:
		if !strict && slices.ContainsFunc(x.Do, tests) && !leaves(x.Do) {
			return "only the last round of the loop decides the exit code"
		}
		return maskedStmts(x.Do, strict)
	case *syntax.WhileClause:
		if slices.ContainsFunc(append(slices.Clone(x.Cond), x.Do...), tests) && !leaves(x.Do) {
			return "only the last round of the loop decides the exit code"
		}
	case *syntax.CallExpr:
		if printsOnly(x) && substitutesTest(x) {
			return "the exit code is echo's"
		}
		if words := wordsOf(x); len(words) > 1 && words[0] == "find" && hasRunner(s) && slices.Contains(words, ";") {
			return "find ends with 0 whatever -exec ran"
		}
		return maskedAssigns(x)
	}
	return ""
}

// maskedAssigns looks at variables that are set alone, whose exit code is that of what runs
// for their values.
func maskedAssigns(c *syntax.CallExpr) string {
	for _, a := range c.Assigns {
		if len(c.Args) > 0 || a.Value == nil {
			continue
		}
		for _, p := range flat(a.Value.Parts) {
			if sub, ok := p.(*syntax.CmdSubst); ok && slices.ContainsFunc(sub.Stmts, tests) {
				if why := maskedStmts(sub.Stmts, false); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// runsForValue reports whether a variable gets what a command prints, whose exit code is that
// of the statement.
func runsForValue(c *syntax.CallExpr) bool {
	return slices.ContainsFunc(c.Assigns, func(a *syntax.Assign) bool {
		return a.Value != nil && slices.ContainsFunc(flat(a.Value.Parts), func(p syntax.WordPart) bool {
			sub, ok := p.(*syntax.CmdSubst)
			return ok && slices.ContainsFunc(sub.Stmts, judges)
		})
	})
}

// saysOnly reports whether a record's command prints words of its own, or nothing, and looks at
// nothing else.
func saysOnly(r Record) bool {
	file, err := parseBash(recordText(r))
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	only := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CallExpr:
			words := wordsOf(x)
			if len(words) == 0 {
				return only
			}
			switch words[0] {
			case "true", ":", "exit", "sleep":
			case "echo", "printf":
				only = only && !slices.ContainsFunc(words[1:], func(w string) bool { return strings.ContainsAny(w, "*?[") || strings.Contains(w, "$x") })
			case "cat":
				only = only && len(words) == 1
			default:
				only = false
			}
		case *syntax.Redirect:
			only = only && (x.Hdoc != nil || x.Op == syntax.WordHdoc || x.Op == syntax.DplOut)
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.TestClause, *syntax.ArithmCmd, *syntax.FuncDecl:
			only = false
		}
		return only
	})
	return only
}

// turnsRound reports whether a record's command passes where a runner of tests fails.
func turnsRound(r Record) bool {
	file, err := parseBash(recordText(r))
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	last := file.Stmts[len(file.Stmts)-1]
	return last.Negated && hasRunner(last)
}

// flat are the parts of a word, and those that stand in double quotes in it.
func flat(parts []syntax.WordPart) []syntax.WordPart {
	var out []syntax.WordPart
	for _, p := range parts {
		if q, ok := p.(*syntax.DblQuoted); ok {
			out = append(out, q.Parts...)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// maskedWords finds a runner of tests that only gives another command its words or its
// input, as in cat <(pytest) and [ -n "$(go test)" ]: how it ended is lost.
func maskedWords(file *syntax.File) string {
	why := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok || why != "" {
			return why == ""
		}
		switch x := s.Cmd.(type) {
		case *syntax.CallExpr:
			for _, w := range x.Args {
				if substitutes(w) {
					why = "the exit code is that of " + first(s)
				}
			}
		case *syntax.TestClause, *syntax.ArithmCmd, *syntax.DeclClause, *syntax.LetClause:
			if substitutes(x) {
				why = "the exit code of a runner in $( ) is lost"
			}
		}
		for _, r := range s.Redirs {
			if r.Word != nil && substitutes(r.Word) || r.Hdoc != nil && substitutes(r.Hdoc) {
				why = "the exit code of what it reads from is lost"
			}
		}
		return why == ""
	})
	return why
}

// substitutes says whether a runner of tests runs in $( ) or <( ) of a part of a command.
func substitutes(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = found || hasRunner(n)
		}
		return !found
	})
	return found
}

func maskedBinary(b *syntax.BinaryCmd, strict bool) string {
	switch b.Op {
	case syntax.OrStmt:
		switch {
		case cannotFail(b.Y) && judges(b.X), tests(b.X) && !runs(b.X) && !hasRunner(b.Y) && !fails(b.Y) && !readsStatus(b.Y):
			return "|| " + first(b.Y)
		case cannotFail(b.X) && tests(b.Y):
			return "what is behind || never runs"
		}
		return maskedStmt(b.Y, strict)
	case syntax.AndStmt:
		if why := maskedStmt(b.X, strict); why != "" && judges(b.X) {
			return why
		}
		return maskedStmt(b.Y, strict)
	default: // a pipe under pipefail ends as its worst stage
		if why := maskedStmt(b.X, strict); why != "" {
			return why
		}
		return maskedStmt(b.Y, strict)
	}
}

// fails reports whether a statement never ends with 0.
func fails(s *syntax.Stmt) bool {
	return ends([]*syntax.Stmt{s}, "exit", "return", "false") || leaves([]*syntax.Stmt{s}) || first(s) == "exit" || first(s) == "return"
}

// maskedIf looks at an if whose exit code counts. Its condition decides where one of its
// branches ends with another code than 0.
func maskedIf(x *syntax.IfClause, strict bool) string {
	judged, fails := false, false
	for c := x; c != nil; c = c.Else {
		judged = judged || slices.ContainsFunc(c.Cond, judges)
		if ends(c.Then, "exit", "return", "false") {
			fails = true
		} else if why := maskedStmts(c.Then, strict); why != "" {
			return why
		}
	}
	if judged && !fails {
		return "the condition of an if decides nothing about the exit code"
	}
	return ""
}

// stops reports whether a statement ends the script with another code than 0 where what
// it runs says so, so that nothing behind it hides that.
func stops(s *syntax.Stmt) bool {
	switch x := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		switch x.Op {
		case syntax.AndStmt:
			return ends([]*syntax.Stmt{x.Y}, "exit", "return")
		case syntax.OrStmt:
			if cannotFail(x.X) {
				return false
			}
			if c, ok := x.Y.Cmd.(*syntax.CallExpr); ok && len(c.Args) == 1 && slices.Contains([]string{"exit", "return"}, first(x.Y)) {
				return true // with the code of what failed
			}
			return ends([]*syntax.Stmt{x.Y}, "exit", "return")
		default: // a pipe, whose stages end themselves alone
		}
	case *syntax.IfClause:
		for c := x; c != nil; c = c.Else {
			if ends(c.Then, "exit", "return") {
				return true
			}
		}
	case *syntax.Block:
		return leaves(x.Stmts)
	case *syntax.ForClause:
		return leaves(x.Do)
	case *syntax.WhileClause:
		return leaves(x.Do)
	}
	return false
}

// ends reports whether the last of some statements is one of words, with a code that may
// be another than 0.
func ends(stmts []*syntax.Stmt, words ...string) bool {
	if len(stmts) == 0 {
		return false
	}
	switch x := stmts[len(stmts)-1].Cmd.(type) {
	case *syntax.Block:
		return ends(x.Stmts, words...)
	case *syntax.Subshell:
		return ends(x.Stmts, words...)
	case *syntax.CallExpr:
		word := first(stmts[len(stmts)-1])
		return slices.Contains(words, word) && (word == "false" || len(x.Args) > 1 && x.Args[1].Lit() != "0")
	}
	return false
}

// captured reports whether a statement only keeps what a program prints, and one behind it
// decides by that. What a runner of tests prints does not stand for how it ended.
func captured(s *syntax.Stmt, behind []*syntax.Stmt) bool {
	return keeps(s) && (!tests(s) || runs(s)) && readBehind(s, behind)
}

// statusKept reports whether the first of some statements keeps how the one before it
// ended, and one behind it decides by that.
func statusKept(behind []*syntax.Stmt) bool {
	if !keeps(behind[0]) {
		return false
	}
	var status []*syntax.Word
	for _, a := range behind[0].Cmd.(*syntax.CallExpr).Assigns {
		if a.Value != nil {
			status = append(status, a.Value)
		}
	}
	return readsStatus(&syntax.CallExpr{Args: status}) && readBehind(behind[0], behind[1:])
}

// statusRead reports whether the statement behind another decides by how that ended. Of a
// runner of tests it must ask for 0.
func statusRead(s, behind *syntax.Stmt, last bool) bool {
	if word := first(behind); word == "exit" || word == "return" {
		c, ok := behind.Cmd.(*syntax.CallExpr)
		return ok && (len(c.Args) == 1 || readsStatus(c) && !strings.Contains(keyOf(c), "(("))
	}
	if !readsStatus(behind) || cannotFail(behind) || !stops(behind) && !last {
		return false
	}
	return !tests(s) || runs(s) || zero.MatchString(keyOf(behind))
}

// zero finds a comparison with 0.
var zero = pattern.New(`(?:-eq|-ne|-gt|=|!=|>) ?0\b`)

// tallied reports whether a failure in a statement only sets a variable, by which one behind
// it decides, as in cmd || failed=1.
func tallied(s *syntax.Stmt, behind []*syntax.Stmt) bool {
	notes := func(n *syntax.Stmt) bool {
		if n == nil || !keeps(n) {
			return false
		}
		a := n.Cmd.(*syntax.CallExpr).Assigns
		return len(a) == 1 && a[0].Value != nil && a[0].Value.Lit() != "0" && readBehind(n, behind)
	}
	all := func(stmts []*syntax.Stmt) bool {
		return !slices.ContainsFunc(stmts, func(s *syntax.Stmt) bool { return judges(s) && !stops(s) && !tallied(s, behind) })
	}
	switch x := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return x.Op == syntax.OrStmt && single(x.X) && notes(x.Y)
	case *syntax.IfClause:
		for c := x; c != nil; c = c.Else {
			if slices.ContainsFunc(c.Then, notes) {
				return all(slices.Concat(c.Then))
			}
		}
	case *syntax.ForClause:
		return all(x.Do)
	case *syntax.Block:
		return all(x.Stmts)
	}
	return false
}

// single reports whether a statement is one command or one pipe.
func single(s *syntax.Stmt) bool {
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return x.Op == syntax.Pipe || x.Op == syntax.PipeAll
	case *syntax.Block:
		return len(x.Stmts) == 1 && single(x.Stmts[0])
	case *syntax.Subshell:
		return len(x.Stmts) == 1 && single(x.Stmts[0])
	}
	return false
}

// waited reports whether one of some statements ends as what runs in the background did.
func waited(behind []*syntax.Stmt) bool {
	return slices.ContainsFunc(behind, func(s *syntax.Stmt) bool {
		found := false
		syntax.Walk(s, func(n syntax.Node) bool {
			c, ok := n.(*syntax.CallExpr)
			found = found || ok && len(c.Args) > 1 && c.Args[0].Lit() == "wait"
			return !found
		})
		return found
	})
}

// keeps reports whether a statement only sets variables.
func keeps(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) == 0 && len(c.Assigns) > 0
}

// readBehind reports whether a statement that decides reads a variable that s sets.
func readBehind(s *syntax.Stmt, behind []*syntax.Stmt) bool {
	names := map[string]bool{}
	for _, a := range s.Cmd.(*syntax.CallExpr).Assigns {
		if a.Name != nil {
			names[a.Name.Value] = true
		}
	}
	strict := false
	for i, b := range behind {
		strict = (strict || setsErrexit(b)) && !unsetsErrexit(b)
		if !stops(b) && (!strict && i < len(behind)-1 || cannotFail(b)) {
			continue
		}
		found := false
		syntax.Walk(b, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && names[p.Param.Value] {
				found = true
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// inBase reports whether a statement runs in the prepared base, which decides nothing
// about the head.
func inBase(s *syntax.Stmt) bool {
	switch x := s.Cmd.(type) {
	case *syntax.Subshell:
		return staysInBase(firstDirs(&syntax.File{Stmts: x.Stmts}), s)
	case *syntax.BinaryCmd:
		dirs, _ := leadingCds(s)
		return staysInBase(dirs, s) || inBase(x.X) && (inBase(x.Y) || !judges(x.Y) || first(x.Y) == "grep")
	}
	return false
}

// staysInBase reports whether a statement goes to the base first, by the folders that it goes
// to before it does anything, and does not leave it again.
func staysInBase(first []string, s *syntax.Stmt) bool {
	if len(first) == 0 || !strings.Contains(first[0], "YCBOT_BASE") {
		return false
	}
	stays := true
	syntax.Walk(s, func(n syntax.Node) bool {
		if x, ok := n.(*syntax.Stmt); ok && isCd(x) {
			key := keyOf(x)
			stays = stays && !strings.Contains(key, "..") && (strings.Contains(key, "YCBOT_BASE") || !elsewhere.MatchString(key))
		}
		return stays
	})
	return stays
}

// elsewhere finds a cd to a folder that is not below the one where it is called.
var elsewhere = pattern.New(`^\S+(?: -[LPe@]+)*(?:$| [/~$-])`)

// built reports whether a statement builds a program that one behind it runs, which cannot
// hold where the build failed.
func built(s *syntax.Stmt, behind []*syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || !builds(wordsOf(c)) {
		return false
	}
	at := slices.IndexFunc(c.Args, func(w *syntax.Word) bool { return w.Lit() == "-o" })
	if at < 0 || at+1 >= len(c.Args) {
		return false
	}
	program := keyOf(c.Args[at+1])
	last := behind[len(behind)-1]
	return len(program) > 1 && !cannotFail(last) && strings.Contains(keyOf(last), program)
}

// builds reports whether -o among a command's words names the program that it builds: of a
// linter it is a report.
func builds(words []string) bool {
	if len(words) < 2 || !slices.Contains([]string{"go", "dotnet", "bun", "deno", "swift"}, words[0]) {
		return false
	}
	return slices.Contains([]string{"build", "publish", "compile"}, words[1]) || words[1] == "test" && slices.Contains(words, "-c")
}

// cannotFail reports whether a statement ends with 0 whatever came before.
func cannotFail(s *syntax.Stmt) bool {
	if s.Negated {
		return first(s) == "false"
	}
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		words := wordsOf(x)
		if len(words) == 0 {
			return len(x.Assigns) > 0 && !runsForValue(x)
		}
		switch words[0] {
		case "true", ":", "echo", "printf", "cat", "ls", "pwd", "date", "sleep", "tail", "head", "wc", "unset", "export":
			return words[0] != "echo" || len(words) > 1
		case "exit", "return":
			return len(words) > 1 && words[1] == "0"
		case "test", "[":
			return constant(words[1:])
		}
	case *syntax.TestClause, *syntax.ArithmCmd:
		return fixed.MatchString(keyOf(s))
	case *syntax.BinaryCmd:
		return x.Op != syntax.OrStmt && cannotFail(x.X) && cannotFail(x.Y) || x.Op == syntax.OrStmt && (cannotFail(x.X) || cannotFail(x.Y))
	case *syntax.Block:
		return len(x.Stmts) > 0 && cannotFail(x.Stmts[len(x.Stmts)-1])
	case *syntax.Subshell:
		return len(x.Stmts) > 0 && cannotFail(x.Stmts[len(x.Stmts)-1])
	case *syntax.IfClause:
		for c := x; c != nil; c = c.Else {
			if !endsWell(c.Then) {
				return false
			}
		}
		return true // also where no branch is taken
	case *syntax.CaseClause:
		return !slices.ContainsFunc(x.Items, func(i *syntax.CaseItem) bool { return len(i.Stmts) > 0 && !endsWell(i.Stmts) })
	case *syntax.ForClause:
		return endsWell(x.Do)
	case *syntax.WhileClause:
		return endsWell(x.Do)
	case *syntax.DeclClause, *syntax.FuncDecl:
		return true
	}
	return false
}

// fixed is a condition that nothing decides.
var fixed = pattern.New(`^(?:\[\[ (?:-n )?\w+(?: ==? \w+)? \]\]|\(\([\d\s=<>+!]+\)\))$`)

// constant reports whether the words of a condition do not ask for anything.
func constant(words []string) bool {
	for _, w := range words {
		if strings.Contains(w, "$x") || strings.HasPrefix(w, "-") && len(w) == 2 && w != "-n" && w != "-z" && w != "-a" && w != "-o" {
			return false
		}
	}
	return true
}

// looks reports whether the words of a command only look at what git or a program is.
func looks(words []string) bool {
	if len(words) < 2 {
		return false
	}
	if words[0] == "git" {
		return slices.Contains([]string{"log", "show", "status", "diff", "blame", "rev-parse", "branch", "version"}, words[1]) && !slices.ContainsFunc(words, func(w string) bool { return w == "--exit-code" || w == "--quiet" || w == "--check" })
	}
	return words[1] == "--version" || words[0] == "go" && (words[1] == "version" || words[1] == "env")
}

// endsWell reports whether a branch, or the body of a loop, ends with 0 and has nothing before
// its end that ends the script otherwise.
func endsWell(stmts []*syntax.Stmt) bool {
	return len(stmts) > 0 && cannotFail(stmts[len(stmts)-1]) && !leaves(stmts)
}

// judges reports whether a statement does something whose exit code matters.
// What prepares, shows or looks does not.
func judges(s *syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			switch c.Args[0].Lit() {
			case "cd", "pushd", "popd", "echo", "printf", "cat", "ls", "pwd", "mkdir", "rm", "cp", "mv", "touch", "chmod", "ln", "set", "export", "unset", "shopt", "trap",
				"sleep", "wait", "kill", "true", ":", "head", "tail", "wc", "sed", "sort", "uniq", "find", "date", "source", ".", "which", "command", "type", "local", "declare", "exit", "return", "read", "test", "[", "tee":
			case "git", "go":
				found = found || !looks(wordsOf(c))
			default:
				found = true
			}
		}
		return !found
	})
	return found
}

// tests reports whether a statement runs a known test, build or lint command.
func tests(s *syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			found = found || isTest(wordsOf(c))
		}
		return !found
	})
	return found && !s.Background
}

// hasRunner reports whether a runner of tests is called in a part of a script; a task of make
// or npm may be anything, such as a server.
func hasRunner(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && isTest(wordsOf(c)) {
			words := wordsOf(c)
			verb := append(words, "")[1]
			task := slices.Contains([]string{"make", "just", "mvn", "mvnw", "gradle", "gradlew", "dotnet", "mix", "swift", "composer", "rake", "cmake"}, words[0]) || verb == "run" || verb == "run-script"
			found = found || !task || verb == "test" || verb == "check"
		}
		return !found
	})
	return found
}

// runs reports whether all that a statement has of such commands run the project's
// program.
func runs(s *syntax.Stmt) bool {
	all := true
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && isTest(wordsOf(c)) {
			words := wordsOf(c)
			all = all && len(words) > 1 && words[1] == "run" && slices.Contains([]string{"go", "dotnet", "mix", "swift"}, words[0])
		}
		return all
	})
	return all
}

// isTest reports whether the words of a command test, build or lint.
func isTest(words []string) bool {
	if len(words) > 1 && (words[0] == "find" || words[0] == "xargs") {
		for i := range words[1:] {
			if isTest(words[i+1:]) {
				return true
			}
		}
	}
	if len(words) == 0 {
		return false
	}
	verb := ""
	if len(words) > 1 {
		verb = words[1]
	}
	switch words[0] {
	case "pytest", "unittest", "tox", "nox", "jest", "vitest", "mocha", "tsc", "eslint", "ruff", "mypy", "golangci-lint", "staticcheck", "make", "ninja", "ctest", "mvn", "mvnw", "gradle", "gradlew", "rspec", "phpunit", "rubocop", "just", "tap":
		return true
	case "go":
		return slices.Contains([]string{"test", "build", "vet", "run"}, verb)
	case "cargo":
		return slices.Contains([]string{"test", "build", "check", "clippy", "nextest"}, verb)
	case "npm", "pnpm", "yarn", "bun", "deno":
		return slices.Contains([]string{"test", "run", "t", "run-script", "build", "lint"}, verb)
	case "node":
		return slices.Contains(words, "--test")
	case "dotnet", "mix", "swift", "composer", "rake", "cmake":
		return verb != "--version"
	}
	return false
}

// substitutesTest reports whether a test runs inside $( ) among a command's words.
func substitutesTest(c *syntax.CallExpr) bool {
	found := false
	for _, w := range c.Args {
		syntax.Walk(w, func(n syntax.Node) bool {
			if inner, ok := n.(*syntax.CallExpr); ok {
				found = found || isTest(wordsOf(inner))
			}
			return !found
		})
	}
	return found
}

// leaves reports whether some statements, such as a loop's body, end the script on failure.
// A break does not: it ends with 0.
func leaves(body []*syntax.Stmt) bool { return slices.ContainsFunc(body, stops) }

// first names a statement by its first word.
func first(s *syntax.Stmt) string {
	if s == nil {
		return ""
	}
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(x.Args) > 0 {
			return x.Args[0].Lit()
		}
	case *syntax.BinaryCmd:
		return first(x.X)
	case *syntax.Block:
		if len(x.Stmts) > 0 {
			return first(x.Stmts[0])
		}
	}
	return "it"
}

// unsetsErrexit reports whether a statement is set +e.
func unsetsErrexit(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 1 && c.Args[0].Lit() == "set" && slices.ContainsFunc(c.Args[1:], func(w *syntax.Word) bool {
		return strings.HasPrefix(w.Lit(), "+") && strings.Contains(w.Lit(), "e")
	})
}

// unsetStrictness finds set +o pipefail, and within other commands set +e where errexit was set
// before: bash does not set it by itself.
func unsetStrictness(file *syntax.File) string {
	why, errexit := "", false
	seen := map[syntax.Node]bool{}
	for _, s := range file.Stmts {
		seen[s.Cmd] = unsetsErrexit(s)
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) < 2 {
			return why == ""
		}
		words := wordsOf(c)
		if words[0] == "shopt" && slices.Contains(words, "pipefail") && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") && strings.Contains(w, "u") }) {
			why = "shopt -u pipefail"
		}
		if words[0] != "set" {
			return why == ""
		}
		for i, l := range words[1:] {
			switch {
			case strings.HasPrefix(l, "-") && strings.Contains(l, "e"), l == "errexit" && words[i] == "-o":
				errexit = true
			case errexit && !seen[c] && (strings.HasPrefix(l, "+") && strings.Contains(l, "e") || l == "errexit"):
				why = "set +e"
			case l == "pipefail" && strings.HasPrefix(words[i], "+"):
				why = "set +o pipefail"
			}
		}
		return why == ""
	})
	return why
}

// setsErrexit reports whether a statement asks bash to end a script where a command fails.
func setsErrexit(s *syntax.Stmt) bool {
	if !strictness(s) {
		return false
	}
	for _, l := range wordsOf(s.Cmd.(*syntax.CallExpr))[1:] {
		if strings.HasPrefix(l, "-") && strings.Contains(l, "e") || l == "errexit" {
			return true
		}
	}
	return false
}

func setsPipefail(file *syntax.File) bool {
	return slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool {
		c, ok := s.Cmd.(*syntax.CallExpr)
		return ok && strictness(s) && slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return w.Lit() == "pipefail" })
	})
}

func hasPipe(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if b, ok := n.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			found = true
		}
		return !found
	})
	return found
}
