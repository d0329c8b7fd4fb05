package classes

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	// assigned is a variable of a Makefile or a script whose value may be a path.
	assigned = pattern.New(`(?m)^[ \t]*(?:export[ \t]+|readonly[ \t]+|local[ \t]+)?(\w+)[ \t]*[:?]?=[ \t]*["']?([\w./$(){}-]+)["']?[ \t]*$`)
	// shellVariable is one where it is used.
	shellVariable = pattern.New(`\$\((\w+)\)|\$\$?\{(\w+)\}|\$\$?(\w+)`)
	// inPart is the path of a folder before a name that is put together.
	inPart = pattern.New(`(?:(?:\$\([^()\n]*\)|\$\{[^{}\n]*\}|\$+\w+|\))["']?/)?((?:[\w.-]+/)*[\w.-]+)/["']?\$`)
	// compares is a call that compares folders, or files of them.
	compares = pattern.New(`(?:^|[;&|(\s@-])(?:diff|cmp|dircmp|colordiff)[ \t]([^\n;&|]*)`)
)

// FoldersRead are the folders whose files the text of a recipe or a script reads without the whole
// name of each: by a name that is put together (want/$n), or as a folder that diff compares. Where
// variables are set, also by others, they count as what they are set to.
func FoldersRead(text, variables string) []string {
	text = strings.ReplaceAll(text, "\\\n", " ")
	set := map[string]string{}
	for _, m := range assigned.FindAllStringSubmatch(variables+"\n"+text, -1) {
		set[m[1]] = m[2]
	}
	for range 3 { // a variable may be set to others
		text = shellVariable.ReplaceAllStringFunc(text, func(use string) string {
			for _, name := range shellVariable.FindStringSubmatch(use)[1:] {
				if value, ok := set[name]; name != "" && ok {
					return value
				}
			}
			return use
		})
	}
	var out []string
	add := func(folder string) {
		if folder = path.Clean(folder); folder != "." && !path.IsAbs(folder) && !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	for _, m := range inPart.FindAllStringSubmatch(text, -1) {
		add(m[1])
	}
	for _, m := range compares.FindAllStringSubmatch(text, -1) {
		for _, w := range strings.Fields(m[1]) {
			if w = strings.Trim(w, `"'`); w != "" && w[0] != '-' {
				for _, here := range []string{"$(CURDIR)/", "${CURDIR}/", "$$PWD/", "$PWD/"} {
					w = strings.TrimPrefix(w, here)
				}
				if !strings.ContainsAny(w, "$*<>`()") {
					add(w)
				}
			}
		}
	}
	return out
}

// NamesFolder says whether the text of a program has a folder in it, by its own name.
func NamesFolder(text, folder string) bool {
	in := path.Base(folder)
	for i := strings.Index(text, in); i >= 0; {
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = text[i-1]
		}
		if end := i + len(in); end < len(text) {
			after = text[end]
		}
		if !wordByte(before) && (after == '/' || strings.IndexByte(`"'`+"`", after) >= 0 && strings.IndexByte(`"'/`+"`", before) >= 0) {
			return true
		}
		j := strings.Index(text[i+1:], in)
		if j < 0 {
			break
		}
		i += 1 + j
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// IsCalledTest says whether a script is called what people call those that run tests.
func IsCalledTest(name string) bool { return wrapperName.MatchString(path.Base(name)) }
