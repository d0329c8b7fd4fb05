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
	if why := unsetStrictness(file); why != "" {
		return why
	}
	if len(r.Argv) > 0 && r.Command == "" && !slices.Contains(r.Argv, "pipefail") && !setsPipefail(file) && hasPipe(file) {
		return "a pipe without pipefail"
	}
	return maskedStmts(file.Stmts)
}

// maskedStmts looks at a list of statements, of which the last one's exit is
// the list's.
func maskedStmts(stmts []*syntax.Stmt) string {
	if len(stmts) == 0 {
		return ""
	}
	strict := false
	for i, s := range stmts[:len(stmts)-1] {
		if strictness(s) && setsErrexit(s) {
			strict = true
		}
		if behind := stmts[i+1:]; strict || !judges(s) || stops(s) || inBase(s) || captured(s, behind) || statusKept(behind) || built(s, behind) {
			continue
		}
		// What is started in the background and waited for is a server, mostly.
		if last := stmts[len(stmts)-1]; cannotFail(last) || tests(s) {
			return "what follows " + first(stmts[i]) + " decides the exit code"
		}
	}
	return maskedStmt(stmts[len(stmts)-1])
}

// maskedStmt looks at one statement whose exit code counts.
func maskedStmt(s *syntax.Stmt) string {
	if s.Background {
		return "it runs in the background"
	}
	switch x := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return maskedBinary(x)
	case *syntax.Block:
		return maskedStmts(x.Stmts)
	case *syntax.Subshell:
		return maskedStmts(x.Stmts)
	case *syntax.IfClause:
		return maskedIf(x)
	case *syntax.ForClause:
		if slices.ContainsFunc(x.Do, tests) && !leaves(x.Do) {
			return "only the last round of the loop decides the exit code"
		}
		return maskedStmts(x.Do)
	case *syntax.WhileClause:
		if slices.ContainsFunc(append(slices.Clone(x.Cond), x.Do...), tests) && !leaves(x.Do) {
			return "only the last round of the loop decides the exit code"
		}
	case *syntax.CallExpr:
		if printsOnly(x) && substitutesTest(x) {
			return "the exit code is echo's"
		}
		if script, ok := literalScript(x); ok {
			if file, err := parseBash(script); err == nil {
				return maskedStmts(file.Stmts)
			}
		}
	}
	return ""
}

func maskedBinary(b *syntax.BinaryCmd) string {
	switch b.Op {
	case syntax.OrStmt:
		if cannotFail(b.Y) && judges(b.X) {
			return "|| " + first(b.Y)
		}
		return maskedStmt(b.Y)
	case syntax.AndStmt:
		if why := maskedStmt(b.X); why != "" && judges(b.X) {
			return why
		}
		return maskedStmt(b.Y)
	default: // a pipe under pipefail ends as its worst stage
		if why := maskedStmt(b.X); why != "" {
			return why
		}
		return maskedStmt(b.Y)
	}
}

// maskedIf looks at an if whose exit code counts. Its condition decides where one of its
// branches ends with another code than 0.
func maskedIf(x *syntax.IfClause) string {
	judged, fails := false, false
	for c := x; c != nil; c = c.Else {
		judged = judged || slices.ContainsFunc(c.Cond, judges)
		if ends(c.Then, "exit", "return", "false") {
			fails = true
		} else if why := maskedStmts(c.Then); why != "" {
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
	for i, b := range behind {
		if !stops(b) && (i < len(behind)-1 || cannotFail(b)) {
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
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(x.Args) == 0 {
			return len(x.Assigns) > 0
		}
		switch name := x.Args[0].Lit(); name {
		case "true", ":", "echo", "printf", "cat", "ls", "pwd", "date", "sleep", "tail", "head", "wc", "unset", "export", "/bin/true":
			return name != "echo" || len(x.Args) > 1
		case "exit", "return":
			return len(x.Args) > 1 && x.Args[1].Lit() == "0"
		}
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
			found = found || isTest(c)
		}
		return !found
	})
	return found && !s.Background
}

// runs reports whether all that a statement has of such commands run the project's
// program.
func runs(s *syntax.Stmt) bool {
	all := true
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && isTest(c) {
			all = all && len(c.Args) > 1 && c.Args[1].Lit() == "run" && slices.Contains([]string{"go", "dotnet", "mix", "swift"}, c.Args[0].Lit())
		}
		return all
	})
	return all
}

// wordsOf are the words of a command, without those of programs that only start another.
func wordsOf(c *syntax.CallExpr) []string {
	var words []string
	for _, w := range c.Args {
		words = append(words, quotes.Replace(w.Lit()))
	}
	for len(words) > 1 && slices.Contains([]string{"timeout", "time", "env", "npx", "nice", "exec", "bundle", "uv", "poetry", "python", "python3", "-m", "run"}, words[0]) {
		words = words[1:]
		for len(words) > 1 && words[0] != "" && (words[0][0] >= '0' && words[0][0] <= '9' || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) > 0 {
		words[0] = words[0][strings.LastIndexByte(words[0], '/')+1:]
	}
	return words
}

func isTest(c *syntax.CallExpr) bool {
	words := wordsOf(c)
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
				found = found || isTest(inner)
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

// literalScript returns TEXT of sh -c TEXT, which runs without pipefail.
func literalScript(c *syntax.CallExpr) (string, bool) {
	if len(c.Args) < 3 {
		return "", false
	}
	argv := make([]string, len(c.Args))
	for i, w := range c.Args {
		var b strings.Builder
		for _, p := range w.Parts {
			switch x := p.(type) {
			case *syntax.Lit:
				b.WriteString(x.Value)
			case *syntax.SglQuoted:
				b.WriteString(x.Value)
			case *syntax.DblQuoted:
				for _, in := range x.Parts {
					if l, ok := in.(*syntax.Lit); ok {
						b.WriteString(l.Value)
					}
				}
			}
		}
		argv[i] = b.String()
	}
	if argv[0] == "" {
		return "", false
	}
	return shellScript(argv)
}

// unsetStrictness finds set +e and set +o pipefail.
func unsetStrictness(file *syntax.File) string {
	why := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) < 2 || c.Args[0].Lit() != "set" {
			return why == ""
		}
		for i, w := range c.Args[1:] {
			switch l := w.Lit(); {
			case strings.HasPrefix(l, "+") && strings.Contains(l, "e"):
				why = "set +e"
			case l == "pipefail" && strings.HasPrefix(c.Args[i].Lit(), "+"):
				why = "set +o pipefail"
			}
		}
		return why == ""
	})
	return why
}

func setsErrexit(s *syntax.Stmt) bool {
	for _, w := range s.Cmd.(*syntax.CallExpr).Args[1:] {
		if l := w.Lit(); strings.HasPrefix(l, "-") && strings.Contains(l, "e") {
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
