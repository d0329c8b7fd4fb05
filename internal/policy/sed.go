package policy

import (
	"slices"
	"strings"
)

// sedTrap says why a call of sed may run a program: a script in a file, the command e,
// the flag e of s, or a script that is not understood.
func sedTrap(rest []string) string {
	scripts, first := []string{}, ""
	for i, a := range rest {
		group := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--")
		switch {
		case a == "--file" || strings.HasPrefix(a, "--fi") || group && strings.Contains(a, "f"):
			return "sed runs a script that is not part of the command"
		case strings.HasPrefix(a, "--e"):
			if _, script, ok := strings.Cut(a, "="); ok {
				scripts = append(scripts, script)
			} else if i+1 < len(rest) {
				scripts = append(scripts, rest[i+1])
			}
		case group && strings.Contains(a, "e"):
			if _, script, _ := strings.Cut(a, "e"); script != "" {
				scripts = append(scripts, script)
			} else if i+1 < len(rest) {
				scripts = append(scripts, rest[i+1])
			}
		case !strings.HasPrefix(a, "-") && first == "":
			first = a
		}
	}
	if len(scripts) == 0 {
		scripts = []string{first}
	}
	if slices.ContainsFunc(scripts, func(s string) bool { return strings.Contains(s, dynamic) || !plainSed(s) }) {
		return "sed scripts can run programs, and this one is not understood to run none"
	}
	return ""
}

// plainSed reports whether a script of GNU sed is understood and runs nothing.
func plainSed(s string) bool {
	for s != "" {
		s = strings.TrimLeft(s, " \t\n;{}!0123456789,$~+")
		if s == "" {
			return true
		}
		verb := s[0]
		var ok bool
		switch s = s[1:]; verb {
		case '/':
			if s, ok = delimited(s, '/'); !ok {
				return false
			}
			s = strings.TrimLeft(s, "IM")
		case 's', 'y':
			if s, ok = substitution(s, verb); !ok {
				return false
			}
		case 'a', 'i', 'c', 'r', 'R', '#': // a text, file or comment
			_, s, _ = strings.Cut(s, "\n")
		case ':', 'b', 't', 'T': // a label
			s = s[max(0, min(len(s), strings.IndexAny(s+";", ";\n"))):]
		case 'd', 'D', 'g', 'G', 'h', 'H', 'l', 'n', 'N', 'p', 'P', 'q', 'Q', 'x', 'z', '=':
		default: // e runs, w and W write, the rest is not known
			return false
		}
	}
	return true
}

// substitution returns what follows the two parts and the flags of s or y.
func substitution(s string, verb byte) (rest string, ok bool) {
	if s == "" || s[0] == '\\' || s[0] == '\n' {
		return "", false
	}
	delimiter := s[0]
	rest = s[1:]
	if verb == 's' && !closed(rest, delimiter) {
		return "", false
	}
	for range 2 {
		if rest, ok = delimited(rest, delimiter); !ok {
			return "", false
		}
	}
	if verb == 'y' {
		return rest, true
	}
	end := strings.IndexAny(rest, ";\n} ")
	if end < 0 {
		end = len(rest)
	}
	return rest[end:], strings.Trim(rest[:end], "gpiIM0123456789") == "" // e runs what came of it, w writes it
}

// delimited returns what follows the next delimiter that has no backslash before it.
func delimited(s string, delimiter byte) (rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case delimiter:
			return s[i+1:], true
		}
	}
	return "", false
}

// closed reports whether each bracket of an expression ends before its delimiter: where
// one does not, versions of sed differ in where the expression ends.
func closed(s string, delimiter byte) bool {
	for i := 0; i < len(s) && s[i] != delimiter; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			i++
			if i < len(s) && s[i] == '^' {
				i++
			}
			end := strings.IndexByte(s[min(i+1, len(s)):], ']')
			if end < 0 || strings.IndexByte(s[i:i+1+end], delimiter) >= 0 {
				return false
			}
			i += 1 + end
		}
	}
	return true
}
