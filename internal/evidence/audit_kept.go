package evidence

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
)

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
