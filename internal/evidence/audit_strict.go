package evidence

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
