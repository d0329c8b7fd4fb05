// Package cmdline finds command lines, and requests to servers, in texts of a repository,
// and says what two versions of a program do differently when each of them was run several
// times. It is text in, text out: it starts nothing and reads no file.
package cmdline

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// A Line is a command line that stands in a text.
type Line struct {
	At    int      // its line, from 1
	Text  string   // as it stands; empty in calls of source
	First []string // words as they stand, for those who only want to know what is called
	Words []string // what is called, and its arguments; nil: it is more than plain words
}

var (
	fence   = pattern.New("^\\s*(```+|~~~+)\\s*(\\S*)")
	prompt  = pattern.New(`^\s*(?:[$%❯]\s+)`)
	script  = pattern.New(`^(?:[!?]\s+)?exec\s+(.*)$`)
	called  = pattern.New(`\b(?:exec\.Command(?:Context)?|subprocess\.(?:run|call|check_call|check_output|Popen)|execFileSync|execFile|spawnSync|spawn|execSync)\(`)
	quoted  = pattern.New("^(?:\"((?:[^\"\\\\]|\\\\.)*)\"|'((?:[^'\\\\]|\\\\.)*)'|`([^`]*)`)")
	opening = pattern.New(`^(?:\s*(?:ctx|t\.Context\(\)|context\.\w+\(\))\s*,)?\s*`)
)

// shells are the words behind a fence for what is typed into a shell.
var shells = []string{"", "sh", "bash", "shell", "console", "zsh", "shell-session", "sh-session", "terminal", "text"}

// Holds says whether a file can hold command lines of a program: a text for people, a
// script of tests or examples, or, by test, a test.
func Holds(name string, test bool) bool {
	ext := path.Ext(name)
	switch ext {
	case ".md", ".markdown", ".txtar":
		return true
	case ".txt":
		return strings.Contains("/"+name, "/testdata/")
	case ".sh":
		return strings.Contains("/"+name, "/examples/") || strings.Contains("/"+name, "/example/")
	}
	return test
}

// Lines are the command lines of a file.
func Lines(name string, src []byte) []Line {
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	switch path.Ext(name) {
	case ".md", ".markdown":
		return inBlocks(text)
	case ".txtar", ".txt":
		return inScript(text)
	case ".sh":
		return inShell(text)
	}
	return inCalls(text)
}

// inBlocks are those of fenced blocks. In a block with prompts the other lines are output.
func inBlocks(text string) []Line {
	var out []Line
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := fence.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[end]), m[1]) {
			end++
		}
		if slices.Contains(shells, strings.ToLower(m[2])) {
			block := lines[i+1 : end]
			prompts := slices.ContainsFunc(block, prompt.MatchString)
			for k := 0; k < len(block); k++ {
				first, l := k, block[k]
				at := prompt.FindStringSubmatchIndex(l)
				for strings.HasSuffix(l, `\`) && k+1 < len(block) { // it goes on
					k++
					l = strings.TrimSuffix(l, `\`) + " " + strings.TrimSpace(block[k])
				}
				if at != nil {
					l = l[at[1]:]
				} else if prompts {
					continue
				}
				out = appendLine(out, i+2+first, l)
			}
		}
		i = end
	}
	return out
}

// inScript are those of a script that calls programs by "exec"; the files behind it are
// not read.
func inScript(text string) []Line {
	var out []Line
	n := 0
	for l := range strings.Lines(text) {
		n++
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "-- ") && strings.HasSuffix(l, " --") {
			break
		}
		if m := script.FindStringSubmatch(l); m != nil {
			out = appendLine(out, n, m[1])
		}
	}
	return out
}

func inShell(text string) []Line {
	var out []Line
	n := 0
	for l := range strings.Lines(text) {
		n++
		out = appendLine(out, n, l)
	}
	return out
}

func appendLine(out []Line, at int, text string) []Line {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "#") {
		return out
	}
	return append(out, Line{At: at, Text: text, First: strings.Fields(text), Words: Words(text)})
}

// Words are those of a command that is nothing but words: no second command, variable,
// redirection, or what a shell or a reader would put something else in place of. Nil:
// it is more.
func Words(text string) []string {
	s := statement(text)
	if s == nil || len(s.Redirs) > 0 || s.Background || s.Negated || s.Coprocess {
		return nil
	}
	return callWords(s.Cmd, "*?[]{}~\\…")
}

// statement is the only one of a text; nil: there is none, or more.
func statement(text string) *syntax.Stmt {
	file, err := shelltext.Parse(text)
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	return file.Stmts[0]
}

// callWords are the words of a command that sets no variable; nil where one is more than
// a word, or has a character that is refused outside of quotes.
func callWords(cmd syntax.Command, refused string) []string {
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return nil
	}
	var out []string
	for _, w := range call.Args {
		word, ok := plain(w, refused)
		if !ok {
			return nil
		}
		out = append(out, word)
	}
	return out
}

func plain(w *syntax.Word, refused string) (string, bool) {
	out := ""
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, refused) || strings.Contains(p.Value, "...") {
				return "", false
			}
			out += p.Value
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			out += p.Value
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok || p.Dollar {
					return "", false
				}
				out += escaped.ReplaceAllString(lit.Value, "$1")
			}
		default:
			return "", false
		}
	}
	return out, true
}

// escaped is what a backslash means something before in double quotes.
var escaped = pattern.New(`\\(["\\$` + "`" + `])`)

// inCalls are those of calls in source, whose words are all literals.
func inCalls(text string) []Line {
	var out []Line
	n := 0
	for l := range strings.Lines(text) {
		n++
		for _, at := range called.FindAllStringSubmatchIndex(l, -1) {
			rest := l[at[1]:]
			rest = rest[opening.FindStringSubmatchIndex(rest)[1]:]
			list := strings.HasPrefix(rest, "[")
			rest = strings.TrimSpace(strings.TrimPrefix(rest, "["))
			words, whole := literals(rest)
			switch {
			case len(words) == 0:
				continue
			case len(words) == 1 && !list && strings.Contains(words[0], " "):
				out = appendLine(out, n, words[0])
			case whole:
				out = append(out, Line{At: n, First: words, Words: words})
			default:
				out = append(out, Line{At: n, First: words})
			}
		}
	}
	return out
}

// literals are the quoted words at the beginning of a list; whole says that it ends
// behind them.
func literals(rest string) (words []string, whole bool) {
	for {
		rest = strings.TrimLeft(rest, " \t[")
		m := quoted.FindStringSubmatch(rest)
		if m == nil {
			return words, len(words) > 0 && rest != "" && strings.ContainsRune(")]", rune(rest[0]))
		}
		word := m[1] + m[2]
		if strings.Contains(word, `\`) {
			s, err := strconv.Unquote(`"` + word + `"`)
			if err != nil {
				return words, false
			}
			word = s
		}
		words = append(words, word+m[3])
		rest = strings.TrimLeft(rest[len(m[0]):], " \t")
		next, ok := strings.CutPrefix(rest, ",")
		if !ok {
			return words, rest != "" && strings.ContainsRune(")]", rune(rest[0]))
		}
		rest = next
	}
}
