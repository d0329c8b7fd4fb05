package policy

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// awkTrap finds what lets an awk program run commands; a program that only
// takes columns apart has none of it.
func awkTrap(name string, rest []string) string {
	program := false
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == dynamic:
			return name + " runs a program that is not part of the command"
		case program, a == "--":
			continue
		case a == "-F", a == "-v": // the next word is its value, which runs nothing
			if i++; i < len(rest) && rest[i] == dynamic {
				return name + " runs a program that is not part of the command"
			}
			continue
		case strings.HasPrefix(a, "-F"), strings.HasPrefix(a, "-v"):
			continue
		case strings.HasPrefix(a, "-") && len(a) > 1:
			return name + " runs a program that is not part of the command"
		}
		program = true
		code := strings.ReplaceAll(awkCode(a), "||", "")
		for _, word := range []string{"system", "getline", "|", "@"} {
			if strings.Contains(code, word) {
				return name + " programs with " + word + " run commands"
			}
		}
	}
	return ""
}

// awkText is a string, an expression between slashes, or a comment, at the beginning of what is
// left of a program. Versions of awk differ in whether a slash in brackets ends an expression:
// such a one is none.
var (
	awkString     = pattern.New(`^"(?:[^"\\\n]|\\[^\n])*"`)
	awkExpression = pattern.New(`^/(?:[^/\\\[\n]|\\[^\n]|\[\^?\]?[^]/\\\[\n]*\])*/`)
	awkComment    = pattern.New(`^#[^\n]*`)
)

// awkCode is a program without its texts. Where it is not clear whether a slash divides or begins
// an expression, all behind it is code.
func awkCode(program string) string {
	var b strings.Builder
	last := byte('\n') // the last sign that is no blank
	for program != "" {
		text := ""
		switch sign := program[0]; {
		case sign == '"':
			text = begins(awkString, program)
		case sign == '#':
			text = begins(awkComment, program)
		case sign == '/' && strings.IndexByte("\n(,{};!~&|", last) >= 0: // nothing that could be divided
			text = begins(awkExpression, program)
		case sign != '/':
			b.WriteByte(sign)
			if sign != ' ' && sign != '\t' {
				last = sign
			}
			program = program[1:]
			continue
		}
		if text == "" {
			return b.String() + program
		}
		if text[0] != '#' {
			b.WriteByte(' ')
			last = 'x'
		}
		program = program[len(text):]
	}
	return b.String()
}

// begins is what an expression finds at the beginning of a text.
func begins(p *pattern.Pattern, text string) string {
	if m := p.FindStringSubmatch(text); m != nil {
		return m[0]
	}
	return ""
}
