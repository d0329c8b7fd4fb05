package classes

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Around is what a source says around a test that is a function: the classes that it is in and what
// runs before it, without the other tests and classes; of Go the helpers that the text of the test names.
func Around(name string, src []byte, test, text string) string {
	switch path.Ext(name) {
	case ".py":
		return aroundPython(string(src), test)
	case ".go":
		return aroundGo(string(src), text)
	}
	return ""
}

var (
	goFunc    = pattern.New(`^(?:\([^()\n]*\) )?(\w+)`)
	pythonTop = pattern.New(`(?m)^(?:class|(?:async )?def)[ \t]+(\w+)(.*)`)
)

func aroundGo(src, text string) string {
	words, out := Words([]byte(text)), ""
	for _, piece := range strings.Split(src, "\nfunc ")[1:] {
		if m := goFunc.FindStringSubmatch(piece); m != nil && words[m[1]] && !strings.HasPrefix(text, "func "+m[0]+"(") {
			out += piece + "\n"
		}
	}
	return out
}

func aroundPython(src, test string) string {
	parts := strings.FieldsFunc(test, func(r rune) bool { return r == ':' || r == '.' })
	if len(parts) == 0 {
		return ""
	}
	own, _, _ := strings.Cut(parts[len(parts)-1], "[")
	in := map[string]bool{}
	for _, p := range parts[:len(parts)-1] {
		in[p] = true
	}
	blocks := pythonBlocks(src)
	for range len(parts) { // what a class is made of stands in its head
		for _, b := range blocks {
			if m := pythonTop.FindStringSubmatch(b); m != nil && in[m[1]] {
				for w := range Words([]byte(m[2])) {
					in[w] = true
				}
			}
		}
	}
	out := ""
	for _, b := range blocks {
		m := pythonTop.FindStringSubmatch(b)
		if m == nil || in[m[1]] || m[1] == own || !strings.HasPrefix(strings.TrimSpace(m[0]), "class") && !strings.HasPrefix(m[1], "test") {
			out += b
		}
	}
	for name, text := range pythonFuncs(out) {
		if strings.HasPrefix(name, "test") && name != own {
			out = strings.ReplaceAll(out, text, "")
		}
	}
	return out
}

// pythonBlocks splits a source before what stands at its left edge; decorators stand with what they
// decorate.
func pythonBlocks(src string) []string {
	var out []string
	decorates := false
	for line := range strings.Lines(src) {
		left := strings.TrimSpace(line) != "" && !strings.ContainsAny(line[:1], " \t)]}")
		if len(out) == 0 || left && !decorates {
			out = append(out, "")
		}
		if left {
			decorates = line[0] == '@'
		}
		out[len(out)-1] += line
	}
	return out
}
