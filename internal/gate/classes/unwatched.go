package classes

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

const unwatched = "takes away a check that the program makes of itself"

// Unwatches says whether the mark is nothing that the change adds, but one of [Unwatched] or
// [StopsNoMore].
func (m Mark) Unwatches() bool { return m.What == unwatched }

// Says is what the change does by the mark, for people.
func (m Mark) Says() string {
	if m.Unwatches() {
		return m.What
	}
	return "adds code that " + m.What
}

// SaysBuild says whether a file says how C, C++ or Rust is compiled, by its name.
func SaysBuild(name string) bool { return buildFile.MatchString(path.Base(name)) }

// Unwatched are marks of a file that says how a program is compiled: what lets that watch itself
// while it runs, such as a sanitizer, which the base's version asks for and now, all such files
// that the change touches, does not, or does only where someone turns it on.
func Unwatched(name string, base, now []byte) []Mark {
	is := watchedBy(now)
	var out []Mark
	for _, what := range watchedBy(base) {
		if !slices.Contains(is, what) {
			out = append(out, Mark{Path: name, Line: 1, What: unwatched, Text: what})
		}
	}
	return out
}

// watchedBy are the flags and options in a file by which a program watches itself.
func watchedBy(src []byte) []string {
	var out []string
	for text := range strings.Lines(string(src)) {
		if strings.HasPrefix(strings.TrimSpace(text), "#") {
			continue
		}
		for _, m := range watching.FindAllStringSubmatch(text, -1) {
			what := m[0]
			if m[1] != "" { // an option that is on
				what = m[1]
			}
			if !slices.Contains(out, what) {
				out = append(out, what)
			}
		}
	}
	return out
}

// watching are flags by which a program watches itself, and options of CMake that are on and
// called after them, which are the group.
var watching = pattern.New(`-fsanitize=[\w,-]+|-D_FORTIFY_SOURCE=[1-9]|-D_GLIBCXX_(?:ASSERTIONS|DEBUG)\b|-D_LIBCPP_HARDENING_MODE\b|\bb_sanitize=\w+|-Zsanitizer=\w+|` +
	`(?i:\boption\s*\(\s*(\w*(?:SANITI[SZ]|ASAN|UBSAN|TSAN|MSAN|ASSERT|HARDEN|VALGRIND)\w*)\s+(?:"(?:[^"\\]|\\.)*"|\S+)\s+(?:ON|TRUE|YES|1)\b)`)

// IsScript says whether a file is one of a shell, by its name.
func IsScript(name string) bool {
	return slices.Contains([]string{".sh", ".bash", ".zsh", ".ksh"}, path.Ext(name))
}

// stopsAtErrors is what ends a script at the first command that fails.
var stopsAtErrors = pattern.New(`(?m)^\s*set\s+(?:-\w*e\w*|-o\s+errexit)[^\n;]*|^#!.*\s-\w*e\w*$`)

// StopsNoMore is the mark of a script that ends at the first command that fails on the base, and
// goes on on the head; none where that is not so.
func StopsNoMore(name string, base, head []byte) []Mark {
	was := stopsAtErrors.FindStringSubmatch(string(base))
	if was == nil || len(head) == 0 || stopsAtErrors.Match(head) {
		return nil
	}
	return []Mark{{Path: name, Line: 1, What: unwatched, Text: strings.TrimSpace(was[0])}}
}
