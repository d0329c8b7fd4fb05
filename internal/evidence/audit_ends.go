package evidence

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
)

// fails reports whether a statement never ends with 0.
func fails(s *syntax.Stmt) bool {
	return ends([]*syntax.Stmt{s}, "exit", "return", "false") || leaves([]*syntax.Stmt{s}) || first(s) == "exit" || first(s) == "return"
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

// leaves reports whether some statements, such as a loop's body, end the script on failure.
// A break does not: it ends with 0.
func leaves(body []*syntax.Stmt) bool { return slices.ContainsFunc(body, stops) }

// endsWell reports whether a branch, or the body of a loop, ends with 0 and has nothing before
// its end that ends the script otherwise.
func endsWell(stmts []*syntax.Stmt) bool {
	return len(stmts) > 0 && cannotFail(stmts[len(stmts)-1]) && !leaves(stmts)
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
