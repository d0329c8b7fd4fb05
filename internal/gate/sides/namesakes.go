package sides

import (
	"maps"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// namesakes are the lines of a source by which what tests of the base use means something else:
// they declare a name that these tests have from elsewhere, of the language, of a library or of a file
// of theirs. What sources of the base declare too is no such name.
func (r *Reader) namesakes(name string, added map[int]string) []classes.Mark {
	var out []classes.Mark
	text := ""
	for _, line := range slices.Sorted(maps.Keys(added)) {
		for _, n := range classes.Namesakes(name, added[line]) {
			meets := r.meets(name)
			tests := meets.tests[lastWord(n.Name)]
			if len(tests) > 0 && text == "" {
				text = string(r.readHead(name))
			}
			if slices.ContainsFunc(tests, func(f *baseSource) bool {
				return n.Belongs(name, text, f.name, r.textOf(f)) && n.Used(f.name, r.textOf(f))
			}) && !slices.ContainsFunc(meets.others, func(f *baseSource) bool { return n.Stands(r.textOf(f)) }) {
				out = append(out, classes.MarkOfNamesake(name, line, added[line]))
				break
			}
		}
	}
	return out
}

// A meeting is the files of the base that can meet what sources declare.
type meeting struct {
	tests  map[string][]*baseSource // by the words that they have
	others []*baseSource
}

var word = pattern.New(`\w+`)

// lastWord is what is looked up of a name with parts.
func lastWord(name string) string {
	words := word.FindAllString(name, -1)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// meets finds the files that can meet what a source declares. What scripts declare, those do that
// take them in.
func (r *Reader) meets(name string) meeting {
	key := path.Ext(name)
	if classes.IsScript(name) {
		key = name
	}
	if out, ok := r.meetings[key]; ok {
		return out
	}
	var out meeting
	if classes.IsScript(name) {
		out = r.meetingOf(r.programsOfBase(), func(f *baseSource) bool { return ofTests(f.name) && classes.IsSourcedIn(r.textOf(f), name) })
	} else {
		alike := slices.DeleteFunc(slices.Clone(r.sourcesOfBase()), func(f *baseSource) bool { return !classes.OfOneLanguage(path.Ext(name), path.Ext(f.name)) })
		out = r.meetingOf(alike, func(f *baseSource) bool {
			return f.test || ofTests(f.name) || path.Ext(f.name) == ".rs" // whose tests stand in sources
		})
	}
	if r.meetings == nil {
		r.meetings = map[string]meeting{}
	}
	r.meetings[key] = out
	return out
}

func (r *Reader) meetingOf(files []*baseSource, test func(*baseSource) bool) meeting {
	out := meeting{tests: map[string][]*baseSource{}}
	for _, f := range files {
		is := test(f)
		if !is || path.Ext(f.name) == ".rs" {
			out.others = append(out.others, f)
		}
		if !is {
			continue
		}
		for _, w := range word.FindAllString(r.textOf(f), -1) {
			if list := out.tests[w]; len(list) == 0 || list[len(list)-1] != f {
				out.tests[w] = append(list, f)
			}
		}
	}
	return out
}

// programsOfBase are the scripts of the base, as far as they are looked at.
func (r *Reader) programsOfBase() []*baseSource {
	var out []*baseSource
	for _, f := range r.Plans[results.Base].Files {
		if isProgram(f) && len(out) < maxRead && !ecosystem.IgnoredDir(path.Dir(f)) {
			out = append(out, &baseSource{name: f})
		}
	}
	return out
}

// isProgram says whether a file is a script or a program by its name, or of tests that are such.
func isProgram(name string) bool {
	return soughtKind(name) == "program" || slices.Contains([]string{".t", ".bats"}, path.Ext(name))
}

// ofTests says whether a file is one of tests, or lies where they keep what they use.
func ofTests(name string) bool {
	return languages.IsTestFile(name) || classes.InTestFolder(name) || ecosystem.InFolder(name, "t")
}

// loosens are the lines of a script that tests take in, also by way of others, by which the shell reads them
// otherwise.
func (r *Reader) loosens(name string, added map[int]string) []classes.Mark {
	marks := classes.Loosens(name, added)
	if len(marks) == 0 || !r.sourcedByTests(name) {
		return nil
	}
	return marks
}

// sourcedByTests says whether scripts that are tests of the base, or that test commands call, source one.
func (r *Reader) sourcedByTests(name string) bool {
	programs, seen := r.programsOfBase(), map[string]bool{name: true}
	for next := []string{name}; len(next) > 0 && len(seen) < maxScripts; next = next[1:] {
		for _, f := range programs {
			if seen[f.name] || !classes.IsSourcedIn(r.textOf(f), next[0]) {
				continue
			}
			if ofTests(f.name) || r.calledByTests()[f.name] {
				return true
			}
			seen[f.name], next = true, append(next, f.name)
		}
	}
	return false
}
