package classes

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// ofTests is what a line, a target or a script is about that is there for tests.
var ofTests = pattern.New(`(?i)test|spec\b|check|lint|format|cover|e2e|bench`)

// ProductOf returns a file that steers tests as the base has it, but for the parts by which
// the product is made, which are the head's: a program that is built, or set, otherwise is
// another program, also where tests are called by the same file. nil: there are no such
// parts, or the head leaves them as they were.
func ProductOf(name string, v Versions) []byte {
	if v.Base == nil || v.Head == nil {
		return nil
	}
	var out []byte
	switch base := path.Base(name); {
	case base == "package.json":
		var err error
		if out, err = productJSON(v.Head, v.Base); err != nil {
			return nil
		}
	case ecosystem.Called("GNUmakefile", "makefile", "Makefile", "*.mk", "justfile", "Justfile", ".justfile")(name, nil):
		out = productRules(v.Base, v.Head)
	case ecosystem.InFolders(name, []string{".cargo"}), ecosystem.InFolders(name, []string{".mvn"}), ecosystem.Called("babel.config.*", ".babelrc", ".babelrc.*", ".swcrc", "vite.config.*", ".env", ".env.*", "*.env", "*.sh", "*.cmake", "Rakefile", "*.rake")(name, nil):
		if saysOfTests(v.Base) == saysOfTests(v.Head) {
			out = v.Head
		}
	}
	if bytes.Equal(out, v.Base) {
		return nil
	}
	return out
}

// productJSON puts one package.json's scripts that are not for tests, and what its sources read
// of it, into another one.
func productJSON(from, into []byte) ([]byte, error) {
	return ecosystem.MergeAll(ecosystem.MergeShared("scripts", func(name string) bool { return !ofTests.MatchString(name) }), ecosystem.MergeJSON("config", "imports"))(from, into)
}

// saysOfTests are the lines of a text that speak of tests.
func saysOfTests(text []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if ofTests.MatchString(line) {
			out.WriteString(ecosystem.Trimmed(line) + "\n")
		}
	}
	return out.String()
}

// makePart begins a variable or a rule of a Makefile or a justfile.
var makePart = pattern.New(`^(?:export\s+|override\s+|@)*([\w.%/$(){}-]+(?:[ \t]+[\w.%/$(){}-]+)*)[ \t]*(?:[:?+!]{0,2}=|:)`)

// productRules puts the head's variables and rules that say nothing of tests into the base's
// file, where both sides have them.
func productRules(base, head []byte) []byte {
	parts := func(src []byte) (keys []string, text map[string]string) {
		text = map[string]string{}
		key := ""
		seen := map[string]int{}
		goesOn := false
		for line := range strings.Lines(string(src)) {
			if m := makePart.FindStringSubmatch(line); m != nil && !goesOn {
				key = ecosystem.Trimmed(m[0])
				if seen[key]++; seen[key] > 1 {
					key += strings.Repeat("\x00", seen[key])
				}
			} else if line == strings.TrimLeft(line, " \t") && strings.TrimSpace(line) != "" && !goesOn {
				key = "" // an include, a condition, a remark
			}
			if _, ok := text[key]; !ok {
				keys = append(keys, key)
			}
			text[key] += line
			goesOn = strings.HasSuffix(strings.TrimRight(line, "\n"), `\`)
		}
		return keys, text
	}
	order, was := parts(base)
	_, now := parts(head)
	out := string(base)
	for _, key := range order {
		before := was[key]
		after, ok := now[key]
		if key == "" || !ok || before == after || ofTests.MatchString(key+before+after) || strings.Count(out, before) != 1 {
			continue
		}
		out = strings.Replace(out, before, after, 1)
	}
	return []byte(out)
}

// NamesInTree says whether a source in dir, which is no test, has a file of data as its own: by
// its name, or, of what lies below its folder, by the name of a folder.
func NamesInTree(src, dir, file string) bool {
	base := path.Base(file)
	if slices.ContainsFunc([]string{`"`, "'", "`"}, func(q string) bool { return strings.Contains(src, base+q) }) {
		return true
	}
	return dir != "." && ecosystem.Inside(dir, file) && (Names(src, dir, file) || Embeds(src, dir, file))
}
