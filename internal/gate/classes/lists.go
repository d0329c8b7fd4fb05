package classes

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

var (
	// listLine is a variable of a Makefile that is set by itself.
	listLine = pattern.New(`^([\w.-]+)[ \t]*(?::{0,3}|\+|\?)=([^\n]*)`)
	// makeBlock begins or ends what counts under a condition, or is a text.
	makeBlock = pattern.New(`^ *(?:(ifn?def|ifn?eq|define)|(endif|endef))\b`)
	// ruleLine begins a rule.
	ruleLine = pattern.New(`^([^\s#:=][^#:=]*):(?:[^=]|$)`)
	// makeUse is where a variable of a Makefile is used.
	makeUse = pattern.New(`\$[({]([\w.-]+)`)
	// compilesIn is what makes a program of sources.
	compilesIn = pattern.New(`\$[({](?:CC|CXX|AR|LD|LINK[\w.]*|COMPILE[\w.]*)[)}]|\b(?:gcc|g\+\+|clang(?:\+\+)?|cc|c\+\+|ar|ld|libtool)\b`)
	// sourceWord is a source, or what is compiled of it, in a list.
	sourceWord = pattern.New(`^(?:\$[({]\w+[)}]/)?[\w./%*+-]+$`)
	// wildcard is the files of a pattern.
	wildcard = pattern.New(`\$[({]wildcard[ \t]+([^(){}$,:]+)[)}]`)
)

// A sourceList is what a Makefile says of one variable.
type sourceList struct {
	plain []string // lines that set it, whatever is made
	words []string // of its value
}

// sourceLists are the variables that a Makefile sets outside of conditions, with the lines that do.
func sourceLists(text string) map[string]*sourceList {
	out, depth, last := map[string]*sourceList{}, 0, (*sourceList)(nil)
	goesOn := false
	for line := range strings.Lines(text) {
		value, ends := strings.CutSuffix(strings.TrimRight(line, " \t\r\n"), `\`)
		switch m := makeBlock.FindStringSubmatch(line); {
		case goesOn:
			if last != nil {
				last.plain[len(last.plain)-1] += line
			}
		case m != nil && m[1] != "":
			depth, last = depth+1, nil
		case m != nil:
			depth, last = depth-1, nil
		default:
			last = nil
			if m := listLine.FindStringSubmatch(value); m != nil && depth == 0 {
				if last = out[m[1]]; last == nil {
					last = &sourceList{}
					out[m[1]] = last
				}
				last.plain, value = append(last.plain, line), m[2]
			}
		}
		if last != nil {
			value, _, _ = strings.Cut(value, "#")
			last.words = append(last.words, strings.Fields(wildcard.ReplaceAllString(value, " $1 "))...)
		}
		goesOn = ends
	}
	return out
}

// SetAlike says whether both versions of a file set a variable of make alike. Lines that set it whatever is
// made may differ where taken says that they are the head's in any case.
func SetAlike(v Versions, variable string, taken bool) bool {
	was, rest := settings(string(v.Base), variable)
	is, restNow := settings(string(v.Head), variable)
	return rest == restNow && (was == is || taken && was != "" && is != "")
}

// settings are the lines of a text that set a variable of make by itself, and those that do so for one target,
// under a condition, or in what make evaluates.
func settings(text, variable string) (plain, rest string) {
	sets := regexp.MustCompile(`(?:^|[\s:({])` + regexp.QuoteMeta(variable) + `[ \t]*[:+?!]*=|\b(?:define|undefine)\s+` + regexp.QuoteMeta(variable) + `\b`)
	if list := sourceLists(text)[variable]; list != nil {
		plain = strings.Join(list.plain, "")
	}
	for line := range strings.Lines(text) {
		if sets.MatchString(line) && !strings.Contains("\n"+plain, "\n"+line) {
			rest += line
		}
	}
	return plain, rest
}

// listedSource says whether a word of a list is a source of C or C++, or what is compiled of one, and is of no test.
func listedSource(word string) bool {
	return sourceWord.MatchString(word) && (native.IsSource(word) || slices.Contains([]string{".o", ".lo", ".obj"}, path.Ext(word))) &&
		!languages.IsTestFile(word) && !InTestFolder(word)
}

// ListsOf returns a Makefile as the base has it, but for its lists of sources that ofProduct says are the
// product's, which are the head's. nil: there are none that differ by sources alone.
func ListsOf(v Versions, ofProduct func(variable string) bool) []byte {
	if v.Base == nil || v.Head == nil {
		return nil
	}
	out := string(v.Base)
	rest := func(words []string) []string { return slices.DeleteFunc(slices.Clone(words), listedSource) }
	before, after := sourceLists(out), sourceLists(string(v.Head))
	for _, name := range sorted.Keys(before, strings.Compare) {
		was, is := before[name], after[name]
		if is == nil || slices.Equal(was.words, is.words) || !slices.Equal(rest(was.words), rest(is.words)) || ofTests.MatchString(name) || !ofProduct(name) {
			continue
		}
		out = replaceLines(out, was.plain, is.plain)
	}
	if out == string(v.Base) {
		return nil
	}
	return []byte(out)
}

// replaceLines puts lines where the first of others is in a text, which has these no more.
func replaceLines(text string, was, is []string) string {
	for i, line := range was {
		with := ""
		if i == 0 {
			with = strings.TrimSuffix(strings.Join(is, ""), "\n") + "\n"
		}
		at := 0
		if !strings.HasPrefix(text, line) {
			if at = strings.Index(text, "\n"+line) + 1; at == 0 {
				return text
			}
		}
		text = text[:at] + with + text[at+len(line):]
	}
	return text
}

// MadeOf are the variables of Makefiles of which their rules make something that is not for tests.
func MadeOf(text string) map[string]bool {
	out := map[string]bool{}
	var next []string
	use := func(text string) {
		for _, m := range makeUse.FindAllStringSubmatch(text, -1) {
			if !out[m[1]] {
				out[m[1]], next = true, append(next, m[1])
			}
		}
	}
	for _, rule := range productRulesOf(text) {
		use(rule)
	}
	lists := sourceLists(text)
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if list := lists[name]; list != nil {
			use(strings.Join(list.plain, ""))
		}
	}
	return out
}

// productRulesOf are the rules that compile or link something that is not for tests.
func productRulesOf(text string) []string {
	var rules, out []string
	for line := range strings.Lines(text) {
		m := ruleLine.FindStringSubmatch(line)
		switch last := len(rules) - 1; {
		case m != nil:
			rules = append(rules, line)
		case last >= 0 && (strings.HasPrefix(line, "\t") || strings.HasSuffix(rules[last], "\\\n")):
			rules[last] += line
		case strings.TrimSpace(line) != "":
			rules = append(rules, "")
		}
	}
	for _, rule := range rules {
		head, recipe, _ := strings.Cut(rule, "\n\t")
		target, _, _ := strings.Cut(head, ":")
		if rule != "" && !ofTests.MatchString(rule) && !strings.HasPrefix(target, ".") && !testPlace.MatchString(path.Dir(target)) && (strings.TrimSpace(recipe) == "" || compilesIn.MatchString(recipe)) {
			out = append(out, rule)
		}
	}
	return out
}
