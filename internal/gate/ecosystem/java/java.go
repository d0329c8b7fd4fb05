// Package java is Java, Kotlin, Scala and Groovy, built with Maven or Gradle.
package java

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

func javaClasses() ecosystem.ClassTable {
	return ecosystem.ClassTable{
		Steering: func(name string, _ []byte) bool {
			return ecosystem.InFolders(name, []string{".mvn"}) || path.Base(name) == "junit-platform.properties" || path.Base(name) == "testng.xml"
		},
		Test: func(name string, src []byte) bool {
			code := slices.Contains([]string{".java", ".kt", ".scala", ".groovy"}, path.Ext(name))
			return code && ecosystem.InFolders(name, []string{"src/test", "src/integrationTest"}) && (src == nil || strings.Contains(string(src), "@Test") || javaNamed.MatchString(path.Base(name)))
		},
		Holds:   ecosystem.WhereWritten([]string{"main"}, javaFramework, javaTested),
		Folders: []string{"src/test", "src/integrationTest"},
		Mixed:   ecosystem.MixedBy(map[string]*ecosystem.Mixture{"pom.xml": {Class: compare.Steering, Merge: mergePom}}),
		Origins: javaOrigins,
	}
}

var (
	// https://maven.apache.org/pom.html#Repositories, and #Dependencies
	pomLocal = pattern.New(`<(?:url>\s*file:|systemPath>)\s*([^<\s]*)`)
	// https://docs.gradle.org/current/userguide/declaring_dependencies_basics.html
	gradleLocal = pattern.New(`(?:\b(?:\w*[iI]mplementation|\w*[cC]ompile(?:Only)?|\w*[rR]untime(?:Only)?|api|classpath)\b[\s(]*(?:files|fileTree)\b|\bflatDir\b|\burl\b[^"'\n]*["']file:)[^\n]*`)
)

// javaOrigins reads the archives and repositories of the tree that Maven and Gradle are given.
func javaOrigins(name string) func([]byte) ecosystem.Origins {
	local := gradleLocal
	switch name {
	case "pom.xml":
		local = pomLocal
	case "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts":
	default:
		return nil
	}
	return func(src []byte) ecosystem.Origins {
		out := ecosystem.Origins{Replaced: map[string]string{}}
		for _, m := range local.FindAllStringSubmatch(string(src), -1) {
			out.Replaced[strings.TrimSpace(m[len(m)-1])] = name
		}
		return out
	}
}

var (
	javaFramework = pattern.New(`(?m)^\s*import\s+(?:static\s+)?(?:org\.junit|org\.testng|kotlin\.test|io\.kotest|spock|org\.scalatest)\b`)
	javaTested    = pattern.New(`@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest)\b|extends\s+\w*(?:Spec|Suite)\b`)
)

var javaNamed = pattern.New(`^Test.*|(Test|Tests|TestCase|IT|Spec)\.\w+$`)

// New is Java, Kotlin, Scala and Groovy built with Maven or Gradle.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: "Java", Units: "Java projects",
		Programs: strings.Fields("java javac mvn gradle kotlinc"),
		Runners:  strings.Fields("mvnw gradlew"),
		Hosts:    strings.Fields("repo.maven.apache.org repo1.maven.org plugins.gradle.org plugins-artifacts.gradle.org services.gradle.org downloads.gradle.org"),
		Fetched:  []string{".m2/repository", ".m2/wrapper", ".gradle/caches/modules-2", ".gradle/wrapper"},
		Find:     findJavaProjects,
		Classes:  javaClasses(),
		IsTest: func(name string) bool {
			return path.Ext(name) != ".go" && (strings.Contains("/"+name, "/src/test/") || strings.Contains("/"+name, "/src/integrationTest/"))
		},
		IsSource: func(name string) bool {
			return slices.Contains([]string{".java", ".kt", ".kts", ".scala", ".groovy"}, path.Ext(name))
		},
		Steers: func(name string) bool {
			base := path.Base(name)
			return base == "pom.xml" || base == "gradle.properties" || base == "gradle.lockfile" || base == "libs.versions.toml" ||
				strings.HasPrefix(base, "build.gradle") || strings.HasPrefix(base, "settings.gradle") || strings.Contains(name, "gradle/wrapper/")
		},
		Asks: asks(),
		Absent: func(output string) (string, bool) {
			m := javaMissing.FindStringSubmatch(output)
			if m == nil {
				return "", false
			}
			return m[1] + m[2] + m[3], m[3] != ""
		},
	}
}

var javaMissing = pattern.New(`symbol:\s+(?:method|class|variable|constructor|interface) (\w+)|(?:u|U)nresolved reference:? '?(\w+)|package (?:\w+\.)*(\w+) does not exist`)

// findJavaProjects makes a project of each build: a folder with its file that
// lies in no other one, or is no part of that and has tests.
func findJavaProjects(s *ecosystem.Survey) []ecosystem.Project {
	var out []ecosystem.Project
	dirs := s.Dirs("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
	parts := map[string]bool{} // of a build of Maven
	for _, dir := range dirs { // each behind those above it
		below := slices.ContainsFunc(dirs, func(o string) bool { return o != dir && ecosystem.Inside(o, dir) })
		if below && (parts[dir] || !buildsApart(s, dir)) {
			continue
		}
		mavenModules(s, dir, parts)
		if s.Has(dir, "pom.xml") {
			out = append(out, mavenProject(s, dir))
		} else {
			out = append(out, gradleProject(s, dir))
		}
	}
	return out
}

// buildsApart says whether a folder below another build has a build of its own, with tests: a build
// of Maven that is no module, or settings of Gradle.
func buildsApart(s *ecosystem.Survey, dir string) bool {
	gradle := s.First(dir, "build.gradle", "build.gradle.kts") != ""
	own := s.First(dir, "settings.gradle", "settings.gradle.kts") != "" || s.Has(dir, "pom.xml") && !gradle
	return own && path.Base(dir) != "buildSrc" && !ecosystem.InFolder(dir+"/", "src", "target", "build") && s.Apart(dir, func(name string) bool {
		return strings.HasPrefix(name, "src/test/") || strings.Contains(name, "/src/test/")
	})
}

var (
	pomComment = pattern.New(`(?s)<!--.*?-->`)
	pomModule  = pattern.New(`<(?:module|subproject)>\s*([^<]+?)\s*</`)
)

// mavenModules adds the folders that the build in one brings with it, in all of its profiles
// (https://maven.apache.org/pom.html#Aggregation). One whose name is computed can be any below.
func mavenModules(s *ecosystem.Survey, dir string, parts map[string]bool) {
	pom := pomComment.ReplaceAllString(string(s.Read(dir, "pom.xml")), "")
	for _, m := range pomModule.FindAllStringSubmatch(pom, -1) {
		at := path.Join(dir, m[1])
		if strings.HasSuffix(at, ".xml") {
			at = path.Dir(at)
		}
		if strings.Contains(m[1], "$") {
			for _, f := range s.Below(dir) {
				parts[path.Join(dir, path.Dir(f))] = true
			}
		} else if !parts[at] {
			parts[at] = true
			mavenModules(s, at, parts)
		}
	}
}

// javaBuild is a project whose tool is a wrapper in it, or a program.
func javaBuild(s *ecosystem.Survey, dir, what, file, wrapper, program string) (ecosystem.Project, string) {
	p := ecosystem.Project{Dir: dir, What: what, Why: []string{path.Join(dir, file)}}
	if dir != "." {
		p.What += " in " + dir
	}
	tool := program
	switch {
	case !s.Tools.Has("java"):
		p.Missing = s.Tools.Lack("java")
	case s.Has(dir, wrapper) && !s.Tools.Has(program):
		tool = "sh ./" + wrapper
	case !s.Tools.Has(program):
		p.Missing = s.Tools.Lack(program)
	}
	return p, tool
}

func mavenProject(s *ecosystem.Survey, dir string) ecosystem.Project {
	p, tool := javaBuild(s, dir, "Maven project", "pom.xml", "mvnw", "mvn")
	if p.Missing != "" {
		return p
	}
	repo := ` -Dmaven.repo.local="$HOME/.m2/repository"`
	setup := ecosystem.Command{Stage: results.StageSetup, Unit: dir, Network: sandbox.NetworkHost}
	// What the test plugin brings at run time is resolved only where it finds
	// classes to run, so that this asks for a method which none of them has.
	p.Setup = []ecosystem.Command{setup.Reporting(tool + " -B -q" + repo + " test -Dsurefire.failIfNoSpecifiedTests=false '-Dtest=*#noSuchTestForYcbot' -DfailIfNoTests=false").OnlyOfBase()}
	p.Build = []ecosystem.Command{ecosystem.Command{Stage: results.StageBuild, Unit: dir}.Reporting(tool + " -B -q -o" + repo + " test-compile -Dmaven.test.skip=true")}
	// A failed test must not end a module: those that depend on it would be left out. What failed
	// else does, and is said apart from the tests.
	status, reports := mavenStatus(""), "*/surefire-reports/TEST-*.xml"
	if runsScalaTest(s, dir) {
		status, reports = mavenStatus(scalaTestStatus), reports+"' -o -path '*/scalatest-reports/TEST-*.xml"
	}
	p.Test = []ecosystem.Command{javaTests(dir, tool+" -B -q -o"+repo+" test -Dmaven.test.failure.ignore=true -Dsurefire.skipAfterFailureCount=0 --fail-at-end", status, reports, "JUnit XML of Surefire",
		func(class string) string { return " -Dsurefire.failIfNoSpecifiedTests=false -Dtest=" + class })}
	noteStops(s, &p, stopsMaven, "pom.xml")
	return p
}

// mavenStatus runs a call of Maven that fails for no test, and says so in the results where it fails
// nevertheless. Surefire before 2.21 ignores a crash of the tests' process, too, and frontend-maven-plugin
// tests that it reports nowhere. The call fails as it would have without the setting where a test does. more
// is what other plugins of the build want, which obey the setting.
func mavenStatus(more string) func(text string) string {
	return func(text string) string {
		return text + ` | command -p tee "$RESULTS_DIR/said"; status=${PIPESTATUS[0]}; failed=0
if command -p grep -qE 'The forked VM terminated without|There was a timeout or other error in the fork|^Failed to run task: ' "$RESULTS_DIR/said"; then status=1; fi
` + more + `if [ $status -ne 0 ]; then printf '<?ended %s?>\n' $status > "$RESULTS"; fi
if [ $status -eq 0 ] && { [ $failed -ne 0 ] || command -p grep -qF 'There are test failures' "$RESULTS_DIR/said"; }; then status=1; fi`
	}
}

// scalaTestStatus is what scalatest-maven-plugin wants, which says nothing else of what fails: its reports
// are there where the build asks for them, and have no suite that was aborted
// (https://www.scalatest.org/user_guide/using_the_scalatest_maven_plugin). Surefire's name no host.
const scalaTestStatus = `if command -p grep -qE '\*\*\* ([0-9]+ [A-Z]+ )?ABORTED \*\*\*' "$RESULTS_DIR/said"; then status=1; fi
if command -p grep -qE '\*\*\* ([0-9]+ [A-Z]+ )?FAILED \*\*\*' "$RESULTS_DIR/said"; then
failed=1
if ! find . -path '*-reports/TEST-*.xml' -type f -exec grep -lE '(^|[[:space:]])hostname="' {} + | command -p grep -q .; then status=1; fi
fi
`

// runsScalaTest says whether a build of Maven has a plugin that runs tests of ScalaTest.
func runsScalaTest(s *ecosystem.Survey, dir string) bool {
	return slices.ContainsFunc(s.Below(dir), func(f string) bool {
		return path.Base(f) == "pom.xml" && !ecosystem.IgnoredDir(path.Dir(f)) && strings.Contains(pomComment.ReplaceAllString(string(s.Read(dir, f)), ""), "scalatest-maven-plugin")
	})
}

// ownStatus runs a call that fails where a test does.
func ownStatus(text string) string { return text + " || status=$?" }

func gradleProject(s *ecosystem.Survey, dir string) ecosystem.Project {
	file := s.First(dir, "settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts")
	p, tool := javaBuild(s, dir, "Gradle project", file, "gradlew", "gradle")
	if s.Has(dir, "gradlew") && s.Tools.Has("java") { // the wrapper is the project's own choice
		tool, p.Missing = "sh ./gradlew", ""
		p.Why = append(p.Why, path.Join(dir, "gradlew"))
	}
	if p.Missing != "" {
		return p
	}
	common := " --no-daemon --console=plain -q"
	setup := ecosystem.Command{Stage: results.StageSetup, Unit: dir, Network: sandbox.NetworkHost}
	// What tests need at run time alone is resolved only where they run. An old Gradle may know the
	// settings by other names.
	p.Setup = []ecosystem.Command{setup.Reporting(`only=$(command -p mktemp -d)/only.gradle && printf '%s\n' '` + gradleNone + `' > "$only" && ` +
		tool + common + ` -I "$only" test --continue || ` + tool + common + " testClasses").OnlyOfBase()}
	p.Build = []ecosystem.Command{ecosystem.Command{Stage: results.StageBuild, Unit: dir}.Reporting(tool + common + " --offline classes")}
	p.Test = []ecosystem.Command{javaTests(dir, tool+common+" --offline test --continue", ownStatus, "*/test-results/*/TEST-*.xml", "JUnit XML of Gradle",
		func(class string) string { return " --tests " + class })}
	noteStops(s, &p, stopsGradle, "build.gradle", "build.gradle.kts")
	return p
}

// What has a build stop at a test that fails, which no option takes back
// (https://maven.apache.org/surefire/maven-surefire-plugin/test-mojo.html,
// https://docs.gradle.org/current/javadoc/org/gradle/api/tasks/testing/Test.html).
var (
	stopsMaven  = pattern.New(`<skipAfterFailureCount>\s*[1-9]|<testFailureIgnore>\s*false`)
	stopsGradle = pattern.New(`(?m)^[^/\n]*\b(?:failFast\s*(?:=|\.set\()\s*true|--fail-fast\b)`)
)

// noteStops says which files of a build have it do so.
func noteStops(s *ecosystem.Survey, p *ecosystem.Project, stops *pattern.Pattern, names ...string) {
	for _, f := range s.Below(p.Dir) {
		if slices.Contains(names, path.Base(f)) && !ecosystem.IgnoredDir(path.Dir(f)) && stops.Match(s.Read(p.Dir, f)) {
			p.Notes = append(p.Notes, path.Join(p.Dir, f)+" has it stop at a failure, so that nothing is known of what comes behind one")
		}
	}
}

// gradleNone has the tests of a build find none to run
// (https://docs.gradle.org/current/userguide/init_scripts.html).
const gradleNone = `allprojects { tasks.withType(Test) { ignoreFailures = true; filter { failOnNoMatchingTests = false; includeTestsMatching "noSuchTestForYcbot" } } }`

// javaTests runs a build whose test plugin leaves a document for each class. call is how its text is
// run so that it leaves its exit code in status.
func javaTests(dir, text string, call func(text string) string, where, name string, only func(class string) string) ecosystem.Command {
	build := func(c ecosystem.Command, text string) ecosystem.Command {
		find := `find . \( -path '` + where + `' \) -type f`
		c = c.Reporting(`status=0; `+call(text)+`; `+find+` | LC_ALL=C sort | while IFS= read -r f; do printf '<?module %s?>\n' "$f"; cat "$f"; done >> "$RESULTS"; exit $status`,
			find+" -exec rm -f {} +") // not those of a run before
		c.Text = text
		return c
	}
	c := build(ecosystem.Command{Stage: results.StageTest, Unit: dir}, text)
	c.Results = &ecosystem.Results{
		Name: name, Collect: results.Grouped(results.ParseModules),
		Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
			if len(p.Packages) == 0 {
				return c, false
			}
			t := text
			if len(p.Packages) == 1 || strings.Contains(only(""), "--tests") {
				for _, class := range p.Packages {
					t += only(ecosystem.Quoted(class))
				}
			} else {
				t += only(ecosystem.Quoted(strings.Join(p.Packages, ",")))
			}
			return build(c, t), true
		},
	}
	c.Results.PlantedBy(ecosystem.Planter{
		File: func(p ecosystem.Planting, unit, class string) string {
			return p.SourceEnding(unit, strings.ReplaceAll(class, ".", "/")+".java")
		},
		Plant: func(_ ecosystem.Command, file, src, name string) ecosystem.Planted {
			at, class, text := ecosystem.ClassCopy(file, src, name, failingJava(src, name))
			if pkg := javaPackage.FindStringSubmatch(src); pkg != nil {
				class = pkg[1] + "." + class
			}
			return ecosystem.Planted{Path: at, Package: class, Text: text}
		},
	})
	return c
}

var javaPackage = pattern.New(`(?m)^\s*package\s+([\w.]+)\s*;`)

// failingJava is a test method that must fail, by the library of a test class.
func failingJava(src, name string) string {
	switch {
	case strings.Contains(src, "org.junit.jupiter"):
		return "\n    @org.junit.jupiter.api.Test\n    void " + name + "() {\n        org.junit.jupiter.api.Assertions.assertEquals(1, 2);\n    }\n"
	case strings.Contains(src, "org.testng"):
		return "\n    @org.testng.annotations.Test\n    public void " + name + "() {\n        org.testng.Assert.assertEquals(1, 2);\n    }\n"
	case strings.Contains(src, "org.junit."):
		return "\n    @org.junit.Test\n    public void " + name + "() {\n        org.junit.Assert.assertEquals(1, 2);\n    }\n"
	case strings.Contains(src, "junit.framework"):
		return "\n    public void test" + ecosystem.Capital(name) + "() {\n        assertEquals(1, 2);\n    }\n"
	}
	return ""
}
