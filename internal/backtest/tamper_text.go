package backtest

import (
	"regexp"
	"strings"
)

// pythonTest finds the lines of a test function: from its decorators to its end, and
// where its body begins.
func pythonTest(lines []string, name string) (from, body, to int, ok bool) {
	def := regexp.MustCompile(`^(\s*)(async )?def ` + regexp.QuoteMeta(name) + `\(`)
	for i, l := range lines {
		m := def.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		from, body = i, i
		for from > 0 && strings.HasPrefix(lines[from-1], m[1]+"@") {
			from--
		}
		for body < len(lines) && !strings.HasSuffix(strings.TrimSpace(strings.SplitN(lines[body], " #", 2)[0]), ":") {
			body++
		}
		body++
		to = body
		for j := body; j < len(lines); j++ {
			if strings.TrimSpace(lines[j]) == "" {
				continue
			}
			if indentOf(lines[j]) <= len(m[1]) && !strings.HasPrefix(strings.TrimSpace(lines[j]), "#") {
				break
			}
			to = j + 1
		}
		return from, body, to, to > body
	}
	return 0, 0, 0, false
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func pythonBody(text []byte, name string, with func(indent, body string) string) ([]byte, bool) {
	lines := strings.SplitAfter(string(text), "\n")
	_, body, to, ok := pythonTest(lines, name)
	if !ok {
		return text, false
	}
	old := strings.Join(lines[body:to], "")
	now := with(lines[body][:indentOf(lines[body])], old)
	return []byte(strings.Join(lines[:body], "") + now + strings.Join(lines[to:], "")), now != old
}

func pythonDrop(text []byte, name string) ([]byte, bool) {
	lines := strings.SplitAfter(string(text), "\n")
	from, _, to, ok := pythonTest(lines, name)
	if !ok {
		return text, false
	}
	return []byte(strings.Join(lines[:from], "") + strings.Join(lines[to:], "")), true
}

// scriptCall replaces the call of it or test that has this name.
func scriptCall(text []byte, name string, with func(call string) string) ([]byte, bool) {
	begin := regexp.MustCompile(`\b(?:it|test)\(\s*(?:'` + quotedIn(name, "'") + `'|"` + quotedIn(name, `"`) + "\"|`" + quotedIn(name, "`") + "`)")
	at := begin.FindIndex(text)
	if at == nil {
		return text, false
	}
	end := closing(text, at[0])
	if end < 0 {
		return text, false
	}
	old := string(text[at[0]:end])
	now := with(old)
	return []byte(string(text[:at[0]]) + now + string(text[end:])), now != old
}

func quotedIn(name, quote string) string {
	return regexp.QuoteMeta(strings.ReplaceAll(name, quote, `\`+quote))
}

// closing is where the first parenthesis after from is closed again, -1 where it is not.
// Strings and comments are passed over; regular expressions are not known.
func closing(text []byte, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch c := text[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\'', '"', '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			if i+1 < len(text) && text[i+1] == '/' {
				for i < len(text) && text[i] != '\n' {
					i++
				}
			}
		}
	}
	return -1
}
