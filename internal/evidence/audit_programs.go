package evidence

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
