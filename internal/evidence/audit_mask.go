package evidence

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

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
		if strict || !judges(s) {
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
		if slices.ContainsFunc(x.Cond, judges) {
			return "the condition of an if decides nothing about the exit code"
		}
		return maskedStmts(x.Then)
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
	}
	return false
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

func isTest(c *syntax.CallExpr) bool {
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
	if len(words) == 0 {
		return false
	}
	verb := ""
	if len(words) > 1 {
		verb = words[1]
	}
	switch words[0][strings.LastIndexByte(words[0], '/')+1:] {
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

// leaves reports whether a loop's body ends the loop on failure.
func leaves(body []*syntax.Stmt) bool {
	for _, s := range body {
		if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.OrStmt {
			if n := first(b.Y); n == "exit" || n == "break" || n == "return" {
				return true
			}
		}
	}
	return false
}

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
