package mutate

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A language is what the line operators need to know of one.
type language struct {
	line   []string    // what begins a comment to the end of the line
	block  [][2]string // what begins and ends a longer one
	quotes []string    // what begins and ends text, longer ones first
	rules  []rule
	quiet  *pattern.Pattern // lines to leave alone
}

// A rule changes what the first group of a pattern matches; the pattern sees a
// line without text and comments.
type rule struct {
	pattern *pattern.Pattern
	op      string
	now     func(was string) string // "" for no mutant
	weak    bool
}

func swap(pairs ...string) func(string) string {
	return func(was string) string {
		for i := 0; i < len(pairs); i += 2 {
			switch was {
			case pairs[i]:
				return pairs[i+1]
			case pairs[i+1]:
				return pairs[i]
			}
		}
		return ""
	}
}

func to(text string) func(string) string {
	return func(was string) string {
		if strings.TrimSpace(was) == text {
			return ""
		}
		return text
	}
}

func plusOne(was string) string {
	n, err := strconv.Atoi(was)
	if err != nil || strconv.Itoa(n) != was {
		return ""
	}
	return strconv.Itoa(n + 1)
}

// negate wraps a condition whose brackets are closed on its own line.
func negate(format string) func(string) string {
	return func(was string) string {
		if strings.Count(was, "(") != strings.Count(was, ")") || strings.Count(was, "[") != strings.Count(was, "]") || comparison.MatchString(was) || strings.TrimSpace(was) == "" {
			return ""
		}
		return strings.ReplaceAll(format, "%", was)
	}
}

// comparison matches conditions that other rules negate.
var comparison = pattern.New(`[=!]=|[<>]|&&|\|\||\b(and|or)\b`)

// common are the rules that hold in all of these languages: operators with
// spaces around them, so that generics, pointers and signs are left alone.
var common = []rule{
	{pattern.New(`[\w)\]"'] (===?|!==?) `), "negated condition", swap("==", "!=", "===", "!=="), false},
	{pattern.New(`[\w)\]] (<=?|>=?) [\w(\-]`), "moved boundary", swap("<", "<=", ">", ">="), true},
	{pattern.New(`[\w)\]] (<=?|>=?) [\w(\-]`), "negated condition", swap("<", ">=", ">", "<="), false},
	{pattern.New(` (&&|\|\|) `), "other logic", swap("&&", "||"), false},
	{pattern.New(`[\w)\]] ([+\-*/]) [\w(]`), "other arithmetic", swap("+", "-", "*", "/"), false},
	{pattern.New(`[\w)\]] ([+\-*/]=) `), "other arithmetic", swap("+=", "-=", "*=", "/="), false},
	{pattern.New(`\b(true|false|True|False)\b`), "another truth value", swap("true", "false", "True", "False"), false},
	{pattern.New(`[=<>(\[,+\-*/ ](\d{1,6})(?:[\s;,)\]:]|$)`), "off by one", plusOne, true},
}

var (
	counting = rule{pattern.New(`(?:\w|^\s*)(\+\+|--)`), "counts the other way", swap("++", "--"), false}
	leaving  = rule{pattern.New(`^\s*(break|continue);?\s*$`), "leaves in place of going on, or the other way round", swap("break", "continue"), false}
	words    = rule{pattern.New(` (and|or) `), "other logic", swap("and", "or"), false}
	braced   = rule{pattern.New(`\bif \((.*)\)\s*\{?\s*$`), "negated condition", negate("!(%)"), false}
	dropped  = rule{pattern.New(`^\s*((?:await )?[A-Za-z_][\w.:>\-]*\([^{}]*\);)\s*$`), "removed statement", closed(";"), false}
)

// closed replaces a statement whose brackets are closed on its own line.
func closed(by string) func(string) string {
	return func(was string) string {
		if strings.Count(was, "(") != strings.Count(was, ")") {
			return ""
		}
		return by
	}
}

var slashes = language{
	line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: []string{`"`, `'`},
	quiet: pattern.New(`(?i)^\s*(import|export \*|package|using|#|@|\[|throw|assert|static_assert)|\b(console\.|log(ger)?\b|System\.(out|err)|f?printf|puts|std::c(out|err|log)|Debug\.|Trace\.|perror|Console\.Write)`),
}

// endings are languages by the ending of file names.
var endings = sync.OnceValue(byEnding)

func byEnding() map[string]language {
	script := language{line: slashes.line, block: slashes.block, quotes: []string{"`", `"`, `'`}, quiet: slashes.quiet}
	script.rules = rules(counting, leaving, braced, dropped, returning("undefined"))
	c, java := slashes, slashes
	c.rules = rules(counting, leaving, braced, dropped, returning("0"))
	java.rules = rules(counting, leaving, braced, dropped)
	kotlin := language{line: slashes.line, block: slashes.block, quotes: []string{`"""`, `"`, `'`}, quiet: slashes.quiet}
	kotlin.rules = rules(counting, leaving, braced)
	rust := language{
		line: slashes.line, block: slashes.block, quotes: []string{`"`}, rules: rules(leaving, dropped,
			rule{pattern.New(`\bif (\w[^{]*?) \{\s*$`), "negated condition", negateRust, false}),
		quiet: pattern.New(`^\s*(use|mod|extern|#|pub use|panic!|assert|debug_assert|unreachable!)|\b(e?print(ln)?|trace|debug|info|warn|error|log|tracing)!`),
	}
	python := language{
		line: []string{"#"}, quotes: []string{`"""`, `'''`, `"`, `'`}, rules: rules(words,
			rule{pattern.New(`^\s*(?:if|elif|while) (.*):\s*$`), "negated condition", negate("not (%)"), false},
			rule{pattern.New(`^\s*(break|continue)\s*$`), leaving.op, leaving.now, false},
			rule{pattern.New(`^\s*return (\S.*)$`), "another return value", closedTo("None"), false},
			rule{pattern.New(`^\s*((?:await )?[A-Za-z_][\w.]*\(.*\))\s*$`), "removed statement", closed("pass"), false}),
		quiet: pattern.New(`(?i)^\s*(import|from|@|raise|assert|class|def)\b|^\s*@|\b(print|log(ger|ging)?)\b|warnings\.warn|super\(\)`),
	}
	ruby := language{
		line: []string{"#"}, quotes: []string{`"`, `'`}, rules: rules(words,
			rule{pattern.New(`^\s*(if|unless) \S`), "negated condition", swap("if", "unless"), false},
			rule{pattern.New(`^\s*return (\S[^#]*?)(?: (?:if|unless) .*)?$`), "another return value", closedTo("nil"), false}),
		quiet: pattern.New(`(?i)^\s*(require|include|extend|raise|attr_|module|class|def)|\b(puts|logger|warn|Rails\.logger)\b`),
	}
	elixir := language{
		line: []string{"#"}, quotes: []string{`"""`, `"`, `'`}, rules: rules(words,
			rule{pattern.New(`^\s*(if|unless) \S`), "negated condition", swap("if", "unless"), false}),
		quiet: pattern.New(`^\s*(import|alias|use|require|@|raise|defmodule|def\w*\s+\w+\s+[-+*/=<>!~|&^]+\s)|\b(IO\.|Logger\.)`),
	}
	php := language{line: []string{"//", "#"}, block: slashes.block, quotes: slashes.quotes, quiet: slashes.quiet}
	php.rules = rules(counting, leaving, braced, returning("null"))
	out := map[string]language{".rs": rust, ".py": python, ".rb": ruby, ".ex": elixir, ".exs": elixir, ".php": php, ".kt": kotlin, ".kts": kotlin, ".swift": kotlin}
	for _, e := range []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"} {
		out[e] = script
	}
	for _, e := range []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp"} {
		out[e] = c
	}
	for _, e := range []string{".java", ".cs", ".scala", ".groovy", ".dart"} {
		out[e] = java
	}
	return out
}

func rules(more ...rule) []rule { return slices.Concat(common, more) }

// closedTo replaces a value whose brackets are closed on its own line.
func closedTo(text string) func(string) string {
	return func(was string) string {
		open := strings.Count(was, "(") + strings.Count(was, "[") + strings.Count(was, "{")
		if open != strings.Count(was, ")")+strings.Count(was, "]")+strings.Count(was, "}") {
			return ""
		}
		return to(text)(was)
	}
}

// negateRust leaves patterns alone.
func negateRust(was string) string {
	if strings.HasPrefix(was, "let ") {
		return ""
	}
	return negate("!(%)")(was)
}

func returning(value string) rule {
	return rule{pattern.New(`^\s*return (\S[^;]*);\s*$`), "another return value", closedTo(value), false}
}

// mutants makes all of a file's.
func (l language) mutants(src []byte) []Mutant {
	masked := l.mask(src)
	var out []Mutant
	at := 0
	for i, line := range strings.SplitAfter(masked, "\n") {
		original := string(src[at : at+len(line)])
		if line = strings.TrimRight(line, "\r\n"); !l.quiet.MatchString(original) {
			out = append(out, l.inLine(line, original, i+1, at)...)
		}
		at += len(original)
	}
	return out
}

func (l language) inLine(line, original string, number, at int) []Mutant {
	var out []Mutant
	for _, r := range l.rules {
		if r.op == counting.op && loopHead.MatchString(line) {
			continue // it would never end
		}
		for _, m := range r.pattern.FindAllStringSubmatchIndex(line, -1) {
			was := line[m[2]:m[3]]
			now := r.now(was)
			if now == "" || now == was {
				continue
			}
			text := original[m[2]:m[3]]
			if text != was { // text or comments inside: keep them
				now = strings.ReplaceAll(now, was, text)
			}
			out = append(out, Mutant{Line: number, Op: r.op, Was: text, Now: now, Weak: r.weak, at: at + m[2]})
		}
	}
	return out
}

// loopHead matches lines that count a loop.
var loopHead = pattern.New(`^\s*for\b`)

// mask puts spaces in the place of comments, and of what stands between quotes,
// so that operators do not look into them. Length and lines stay.
func (l language) mask(src []byte) string {
	out := []byte(string(src))
	blank := func(from, to int) {
		for i := from; i < min(to, len(out)); i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(src); {
		rest := string(src[i:min(i+3, len(src))])
		if begins(rest, l.line) != "" {
			end := i + lineEnd(src[i:])
			blank(i, end)
			i = end
			continue
		}
		if end := l.comment(src, i, rest); end > i {
			blank(i, end)
			i = end
			continue
		}
		if q := begins(rest, l.quotes); q != "" {
			end := textEnd(src, i+len(q), q)
			blank(i+len(q), end-len(q))
			i = end
			continue
		}
		i++
	}
	return string(out)
}

func begins(rest string, with []string) string {
	for _, w := range with {
		if strings.HasPrefix(rest, w) {
			return w
		}
	}
	return ""
}

func lineEnd(src []byte) int {
	if i := bytes.IndexByte(src, '\n'); i >= 0 {
		return i
	}
	return len(src)
}

// comment returns where the block comment that begins at i ends, or i.
func (l language) comment(src []byte, i int, rest string) int {
	for _, b := range l.block {
		if !strings.HasPrefix(rest, b[0]) {
			continue
		}
		if n := bytes.Index(src[i+len(b[0]):], []byte(b[1])); n >= 0 {
			return i + len(b[0]) + n + len(b[1])
		}
		return len(src)
	}
	return i
}

// textEnd returns where text ends that q closes. Text of one line ends with it
// at the latest, so that an apostrophe does not swallow the file.
func textEnd(src []byte, i int, q string) int {
	long := len(q) > 1 || q == "`"
	for ; i < len(src); i++ {
		switch {
		case src[i] == '\\':
			i++
		case bytes.HasPrefix(src[i:], []byte(q)):
			return i + len(q)
		case src[i] == '\n' && !long:
			return i
		}
	}
	return len(src)
}
