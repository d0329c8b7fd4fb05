package evidence

import "mvdan.cc/sh/v3/syntax"

// sigpipe is what a shell ends with whose last writer was ended by SIGPIPE.
const sigpipe = 128 + 13

// Stopped says whether a command was ended from outside: for its time, or for a limit of the
// sandbox.
func (r Record) Stopped() bool { return r.TimedOut || r.Limit != "" }

// EndedLike says whether both commands were ended for the same, or neither.
func (r Record) EndedLike(o Record) bool { return r.TimedOut == o.TimedOut && r.Limit == o.Limit }

// Status is how the command of a record ended: its exit code, or 0 where that is
// nothing but the end of a writer whose reader had enough, as in "make | head" under
// pipefail. Whether the writer is ended like that is a race, and says nothing of it.
func (r Record) Status() int {
	if r.Exit == sigpipe && !r.TimedOut && readsEnough(recordText(r)) {
		return 0
	}
	return r.Exit
}

// readsEnough says whether a script ends with a pipe into a program that may stop
// reading before the writer ends. Of more than two stages only the last writer may
// matter: it is not known how the others ended.
func readsEnough(script string) bool {
	file, err := parseBash(script)
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	return endsEarly(file.Stmts[len(file.Stmts)-1])
}

func endsEarly(s *syntax.Stmt) bool {
	if s.Background || s.Negated {
		return false
	}
	switch x := s.Cmd.(type) {
	case *syntax.Block:
		return len(x.Stmts) > 0 && endsEarly(x.Stmts[len(x.Stmts)-1])
	case *syntax.Subshell:
		return len(x.Stmts) > 0 && endsEarly(x.Stmts[len(x.Stmts)-1])
	case *syntax.BinaryCmd:
		switch x.Op {
		case syntax.AndStmt:
			return endsEarly(x.Y)
		case syntax.Pipe, syntax.PipeAll:
			if !stopsReading(x.Y) {
				return false
			}
			first, ok := x.X.Cmd.(*syntax.BinaryCmd)
			return !ok || first.Op != syntax.Pipe && first.Op != syntax.PipeAll || !judges(first.X)
		default:
			return false
		}
	}
	return false
}

// stopsReading says whether a program is one that ends when it has seen enough.
func stopsReading(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	switch c.Args[0].Lit() {
	case "head", "grep", "egrep", "fgrep", "rg", "sed", "awk", "read", "true", "less", "more", "jq", "python", "python3", "node", "cut":
		return true
	}
	return false
}
