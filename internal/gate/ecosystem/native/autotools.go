package native

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// configures are the files that autoconf makes a configure script of.
var configures = []string{"configure.ac", "configure.in"}

// bootstraps are scripts by which projects make their configure script, where it takes more
// than autoreconf.
var bootstraps = []string{"autogen.sh", "bootstrap", "bootstrap.sh", "buildconf"}

// generators are the programs that make a configure script beside autoreconf, by what asks for
// them in the file that it is made of.
var generators = []struct {
	program string
	asked   *pattern.Pattern
}{
	{"automake", pattern.New(`\bAM_INIT_AUTOMAKE\b`)},
	{"libtoolize", pattern.New(`\b(?:LT_INIT|AC_PROG_LIBTOOL|AM_PROG_LIBTOOL)\b`)},
	{"pkg-config", pattern.New(`\bPKG_(?:CHECK_MODULES|PROG_PKG_CONFIG|CHECK_EXISTS)\b`)},
	{"autopoint", pattern.New(`\bAM_GNU_GETTEXT\b`)},
}

// automakeTests is what a Makefile.am has that has tests
// (https://www.gnu.org/software/automake/manual/html_node/Tests.html).
var automakeTests = pattern.New(`(?m)^\s*(?:TESTS\s*\+?=|check-local\s*:)`)

// keepGenerated has make take what autoconf and automake have made, and the tree has, as it is: git
// gives all files one time, by which make would make it again with programs of another version.
const keepGenerated = "find . -name aclocal.m4 -exec touch {} +\nfind . -name configure -exec touch {} +\nfind . '(' -name Makefile.in -o -name '*.h.in' ')' -exec touch {} +"

// autotoolsProject is a project that autoconf configures.
func autotoolsProject(s *ecosystem.Survey, dir, file string) ecosystem.Project {
	p := ecosystem.Project{Dir: dir, What: "Autotools project", Why: []string{path.Join(dir, file)}}
	if dir != "." {
		p.What += " in " + dir
	}
	made := s.Has(dir, "configure")
	needs := []string{"make"}
	if !made {
		needs = append(needs, "autoreconf")
		for _, g := range generators {
			if g.asked.Match(s.Read(dir, file)) {
				needs = append(needs, g.program)
			}
		}
	}
	if p.Missing = ecosystem.LackOfCompiler(s); p.Missing != "" {
		return p
	}
	for _, n := range needs {
		if !s.Tools.Has(n) {
			p.Missing = s.Tools.Lack(n)
			return p
		}
	}
	build, first := `./configure && make -j"$(nproc)"`, []string{keepGenerated}
	if script := s.First(dir, bootstraps...); !made && script != "" {
		build, first = "NOCONFIGURE=1 ./"+script+" && "+build, nil
	} else if !made {
		build, first = "autoreconf -fi && "+build, nil
	}
	p.Build = []ecosystem.Command{ecosystem.Command{Stage: results.StageBuild, Unit: dir}.Reporting(build, first...)}

	target, automake := "", false
	for _, f := range s.Below(dir) {
		automake = automake || path.Base(f) == "Makefile.am" && automakeTests.Match(s.Read(dir, f))
	}
	if automake {
		target = "check"
	} else if !s.Has(dir, "Makefile.am") {
		target = makers()[0].targets(s.Read(dir, "Makefile.in"))(testTargets...)
	}
	if target == "" {
		p.Notes = append(p.Notes, "it declares no tests for make")
		return p
	}
	text := "make -k -w " + target
	t := ecosystem.Command{Stage: results.StageTest, Unit: dir}.Reporting("find . -name test-suite.log -exec rm -f {} +; " + text +
		` 2>&1; status=$?; find . -name test-suite.log -exec sed 's/^/| /' {} +; exit $status`)
	t.Text = text
	t.Results = &ecosystem.Results{
		Name: "text of Automake's tests", Rebuild: true, Plant: plant,
		Collect: results.TextByFile(results.ParseAutomake),
		Narrow:  func(c ecosystem.Command, _ ecosystem.Part) (ecosystem.Command, bool) { return c, false },
	}
	p.Test = []ecosystem.Command{t}
	return p
}

// Variables and rules of a Makefile.am, or of what is made of it, by which tests are found, built
// and judged.
var (
	automakeSetting = pattern.New(`^(?:AM_)?(?:TESTS|TESTS_ENVIRONMENT|TESTS_FD_REDIRECT|XFAIL_TESTS|TEST_EXTENSIONS|DISABLE_HARD_ERRORS|(?:dist_|nodist_|EXTRA_)?check_\w+|(?:\w+_)?LOG_(?:COMPILER|COMPILE|DRIVER|FLAGS|DRIVER_FLAGS))\s*[+:?]?=`)
	automakeRule    = pattern.New(`^(?:check|check-local|check-am|tests?)\s*:`)
)

// mergeAutomake puts the base's settings of tests in place of the head's, at the end where
// the head has other ones.
func mergeAutomake(base, head []byte) ([]byte, error) {
	ours, _ := automakeParts(string(base))
	theirs, rest := automakeParts(string(head))
	plain := func(s string) string { return ecosystem.Trimmed(strings.ReplaceAll(s, "\\\n", " ")) }
	if plain(ours) == plain(theirs) {
		return head, nil
	}
	return []byte(strings.TrimRight(rest, "\n") + "\n\n" + ours), nil
}

// automakeParts splits a Makefile.am into its settings of tests, each within the conditions
// that it stands in, and the rest.
func automakeParts(text string) (settings, rest string) {
	var own, left strings.Builder
	var conditions []string // those that are open: an "if" line each, and its "else" line
	open := 0               // of those that what is taken stands in
	end := func() {
		own.WriteString(strings.Repeat("endif\n", open))
		open = 0
	}
	taking, rule, more := false, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n") + "\n"
		switch {
		case more: // behind a backslash
		case automakeSetting.MatchString(line), automakeRule.MatchString(line):
			end()
			taking, rule = true, automakeRule.MatchString(line)
			own.WriteString(strings.Join(conditions, ""))
			open = len(conditions)
		case !rule || !strings.HasPrefix(line, "\t"):
			end()
			taking, rule = false, false
		}
		if last := len(conditions) - 1; !more && !taking {
			switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); {
			case word == "if":
				conditions = append(conditions, line)
			case word == "else" && last >= 0:
				conditions[last] += line
			case word == "endif" && last >= 0:
				conditions = conditions[:last]
			}
		}
		more = strings.HasSuffix(line, "\\\n")
		if taking {
			own.WriteString(line)
		} else {
			left.WriteString(line)
		}
	}
	end()
	return own.String(), left.String()
}

// besides are files by which Autotools build beside the sources, where make takes what it made before
// by its time alone, whatever the rules were.
var besides = pattern.New(`^(?:Makefile\.(?:am|in)|.*\.am|configure\.(?:ac|in)|.*\.m4)$`)
