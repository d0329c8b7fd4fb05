package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/shelltext"
)

// inspectors are commands that only read, whatever their options. Those with an
// option that writes or that runs something (sort, find, awk, env, rg, tree,
// xxd, git) are not among them.
func inspectors() []string {
	return []string{
		"basename", "cat", "cksum", "cmp", "comm", "cut", "dirname", "du", "echo", "expr", "false", "grep", "head", "id", "join", "ls", "md5sum",
		"nl", "nproc", "od", "paste", "pwd", "readlink", "realpath", "sha1sum", "sha256sum", "sha512sum", "stat", "strings", "tail", "test", "tr",
		"true", "uname", "wc", "which", "whoami",
	}
}

// Inspect returns the words of a command that level inspect runs without a
// shell, or why it is none: it has to be one command of a small list, with
// words that mean themselves.
func Inspect(command string) (argv []string, why string) {
	file, err := shelltext.Parse(command)
	if err != nil {
		return nil, "it does not parse: " + err.Error()
	}
	if len(file.Stmts) != 1 {
		return nil, "it is not one command"
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	switch {
	case !ok || s.Background || s.Negated || s.Coprocess || len(call.Args) == 0:
		return nil, "it is not one plain command"
	case len(s.Redirs) > 0:
		return nil, "it has a redirection"
	case len(call.Assigns) > 0:
		return nil, "it sets variables"
	}
	for _, w := range call.Args {
		if !plain(w) {
			return nil, "a word of it is only known at run time"
		}
		argv = append(argv, value(w))
	}
	if !slices.Contains(inspectors(), argv[0]) {
		return nil, argv[0] + " is not among the commands that level inspect runs"
	}
	return argv, ""
}

// plain reports whether a word means itself: nothing in it is expanded.
func plain(w *syntax.Word) bool {
	if value(w) == dynamic {
		return false
	}
	for _, p := range w.Parts {
		switch x := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(x.Value, "*?[]{}~\\") {
				return false
			}
		case *syntax.SglQuoted:
			if x.Dollar {
				return false
			}
		case *syntax.DblQuoted:
			for _, inner := range x.Parts {
				if _, ok := inner.(*syntax.Lit); !ok {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}
