package ecosystem

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// PlainWords splits a command that is nothing but words, as they are written: no variables,
// redirections or second command. Variables that it sets come first.
func PlainWords(text string) ([]string, bool) {
	file, err := shelltext.Parse(text)
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background || file.Stmts[0].Negated {
		return nil, false
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return nil, false
	}
	var words []string
	for _, a := range call.Assigns {
		value := ""
		if a.Value != nil {
			value = a.Value.Lit()
		}
		if a.Append || a.Array != nil || a.Index != nil || a.Value != nil && value == "" {
			return nil, false
		}
		words = append(words, a.Name.Value+"="+value)
	}
	for _, w := range call.Args {
		if !asWritten(w.Parts) {
			return nil, false
		}
		words = append(words, Printed(w))
	}
	return words, true
}

// asWritten says whether a shell puts nothing in the place of parts of a word but what quotes
// keep together.
func asWritten(parts []syntax.WordPart) bool {
	return !slices.ContainsFunc(parts, func(p syntax.WordPart) bool {
		switch p := p.(type) {
		case *syntax.Lit:
			return false
		case *syntax.SglQuoted:
			return p.Dollar
		case *syntax.DblQuoted:
			return p.Dollar || !asWritten(p.Parts)
		}
		return true
	})
}

// ShellWords is a command as a shell takes it.
func ShellWords(c Command) string {
	if n := len(c.Argv); n > 2 && c.Argv[0] == "bash" && c.Argv[n-2] == "-c" {
		return c.Argv[n-1]
	}
	return Quoted(c.Argv...)
}

// Quoted joins words for a shell.
func Quoted(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%,") != "" {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// Written are the words of a call as they are written, assignments first.
func Written(c *syntax.CallExpr) []string {
	var out []string
	for _, a := range c.Assigns {
		out = append(out, Printed(&syntax.CallExpr{Assigns: []*syntax.Assign{a}}))
	}
	for _, w := range c.Args {
		out = append(out, Printed(w))
	}
	return out
}

// Printed is a part of a script as text.
func Printed(n syntax.Node) string {
	var b bytes.Buffer
	if syntax.NewPrinter().Print(&b, n) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// IsAssignment says whether a word of a call sets a variable.
func IsAssignment(word string) bool { return assignment.MatchString(word) }

var assignment = pattern.New(`^\w+=`)
