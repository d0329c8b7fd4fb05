package evidence

import (
	"errors"
	"slices"

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
