package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// javaEcosystem is Java, Kotlin, Scala and Groovy built with Maven or Gradle.
func javaEcosystem() *ecosystem {
	return &ecosystem{
		name: "Java", units: "Java projects",
		hosts:   strings.Fields("repo.maven.apache.org repo1.maven.org plugins.gradle.org plugins-artifacts.gradle.org services.gradle.org downloads.gradle.org"),
		fetched: []string{".m2/repository", ".m2/wrapper", ".gradle/caches/modules-2", ".gradle/wrapper"},
		find:    findJavaProjects,
		classes: javaClasses(),
		isTest: func(name string) bool {
			return path.Ext(name) != ".go" && (strings.Contains("/"+name, "/src/test/") || strings.Contains("/"+name, "/src/integrationTest/"))
		},
		isSource: func(name string) bool {
			return slices.Contains([]string{".java", ".kt", ".kts", ".scala", ".groovy"}, path.Ext(name))
		},
		steers: func(name string) bool {
			base := path.Base(name)
			return base == "pom.xml" || base == "gradle.properties" || base == "gradle.lockfile" || base == "libs.versions.toml" ||
				strings.HasPrefix(base, "build.gradle") || strings.HasPrefix(base, "settings.gradle") || strings.Contains(name, "gradle/wrapper/")
		},
		absent: func(output string) (string, bool) {
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
// lies in no other one.
func findJavaProjects(s *survey) []project {
	var out []project
	dirs := s.dirs("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
	for _, dir := range dirs {
		if slices.ContainsFunc(dirs, func(o string) bool { return o != dir && inside(o, dir) }) {
			continue
		}
		if s.has(dir, "pom.xml") {
			out = append(out, mavenProject(s, dir))
		} else {
			out = append(out, gradleProject(s, dir))
		}
	}
	return out
}

// javaBuild is a project whose tool is a wrapper in it, or a program.
func javaBuild(s *survey, dir, what, file, wrapper, program string) (project, string) {
	p := project{dir: dir, what: what, why: []string{path.Join(dir, file)}}
	if dir != "." {
		p.what += " in " + dir
	}
	tool := program
	switch {
	case !s.tools.has("java"):
		p.missing = "no java on this machine"
	case s.has(dir, wrapper) && !s.tools.has(program):
		tool = "sh ./" + wrapper
	case !s.tools.has(program):
		p.missing = "no " + program + " on this machine"
	}
	return p, tool
}

func mavenProject(s *survey, dir string) project {
	p, tool := javaBuild(s, dir, "Maven project", "pom.xml", "mvnw", "mvn")
	if p.missing != "" {
		return p
	}
	repo := ` -Dmaven.repo.local="$HOME/.m2/repository"`
	setup := command{stage: StageSetup, unit: dir, network: sandbox.NetworkHost}
	// What the test plugin brings at run time is resolved only where it finds
	// classes to run, so that this asks for a method which none of them has.
	p.setup = []command{setup.reporting(tool + " -B -q" + repo + " test -Dsurefire.failIfNoSpecifiedTests=false '-Dtest=*#noSuchTestForYcbot' -DfailIfNoTests=false").onlyOfBase()}
	p.build = []command{command{stage: StageBuild, unit: dir}.reporting(tool + " -B -q -o" + repo + " test-compile -Dmaven.test.skip=true")}
	p.test = []command{javaTests(dir, tool+" -B -q -o"+repo+" test -Dmaven.test.failure.ignore=false --fail-at-end", "*/surefire-reports/TEST-*.xml", "JUnit XML of Surefire",
		func(class string) string { return " -Dsurefire.failIfNoSpecifiedTests=false -Dtest=" + class })}
	return p
}

func gradleProject(s *survey, dir string) project {
	file := s.first(dir, "settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts")
	p, tool := javaBuild(s, dir, "Gradle project", file, "gradlew", "gradle")
	if s.has(dir, "gradlew") && s.tools.has("java") { // the wrapper is the project's own choice
		tool, p.missing = "sh ./gradlew", ""
		p.why = append(p.why, path.Join(dir, "gradlew"))
	}
	if p.missing != "" {
		return p
	}
	common := " --no-daemon --console=plain -q"
	setup := command{stage: StageSetup, unit: dir, network: sandbox.NetworkHost}
	p.setup = []command{setup.reporting(tool + common + " testClasses").onlyOfBase()}
	p.build = []command{command{stage: StageBuild, unit: dir}.reporting(tool + common + " --offline classes")}
	p.test = []command{javaTests(dir, tool+common+" --offline test --continue", "*/test-results/*/TEST-*.xml", "JUnit XML of Gradle",
		func(class string) string { return " --tests " + class })}
	return p
}

// javaTests runs a build whose test plugin leaves a document for each class.
func javaTests(dir, text, where, name string, only func(class string) string) command {
	build := func(c command, text string) command {
		find := `find . -path '` + where + `' -type f -exec `
		c = c.reporting(`status=0; `+text+` || status=$?; `+find+`cat {} + > "$RESULTS"; exit $status`, find+"rm -f {} +") // not those of a run before
		c.text = text
		return c
	}
	c := build(command{stage: StageTest, unit: dir}, text)
	c.results = &results{
		name: name, collect: grouped(parseJUnit(byClass)),
		narrow: func(c command, p part) (command, bool) {
			if len(p.packages) == 0 {
				return c, false
			}
			t := text
			if len(p.packages) == 1 || strings.Contains(only(""), "--tests") {
				for _, class := range p.packages {
					t += only(quoted(class))
				}
			} else {
				t += only(quoted(strings.Join(p.packages, ",")))
			}
			return build(c, t), true
		},
	}
	return c
}
