package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/joshdk/go-junit"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// phpEcosystem is PHP tested with PHPUnit.
func phpEcosystem() *ecosystem {
	return &ecosystem{
		name: "PHP", byGit: true, units: "PHP projects",
		hosts:   strings.Fields("packagist.org repo.packagist.org api.github.com codeload.github.com"), // which packagist.org sends to for the archives
		fetched: []string{".cache/composer"},
		find:    findPHPProjects,
		classes: phpClasses(),
		isTest: func(name string) bool {
			return path.Ext(name) == ".php" && (strings.HasSuffix(name, "Test.php") || inFolder(name, "tests", "test", "Tests"))
		},
		isSource: func(name string) bool { return path.Ext(name) == ".php" },
		steers: func(name string) bool {
			return slices.Contains([]string{"composer.json", "composer.lock", "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"}, path.Base(name))
		},
		absent: func(output string) (string, bool) {
			m := phpMissing.FindStringSubmatch(output)
			if m == nil {
				return "", false
			}
			return m[1] + m[2] + m[3], false
		},
	}
}

const (
	composer  = "composer install --no-interaction --no-progress"
	untouched = " --no-scripts --no-plugins"
)

var phpMissing = pattern.New(`Call to undefined (?:method|function) [\w\\:]*?(\w+)\(\)|(?:Class|Interface|Trait|Enum) "[\w\\]*?(\w+)" not found|Undefined constant [\w\\:"]*?(\w+)"?`)

func findPHPProjects(s *survey) []project {
	var out []project
	for _, dir := range s.dirs("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", "composer.json") {
		config := s.first(dir, "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
		if config == "" && !strings.Contains(string(s.read(dir, "composer.json")), "phpunit") {
			continue
		}
		p := project{dir: dir, what: "PHP project"}
		if dir != "." {
			p.what += " in " + dir
		}
		for _, n := range []string{config, "composer.json", "composer.lock"} {
			if n != "" && s.has(dir, n) {
				p.why = append(p.why, path.Join(dir, n))
			}
		}
		runner := "phpunit"
		switch {
		case !s.tools.has("php"):
			p.missing = "no php on this machine"
		case s.has(dir, "composer.json") && strings.Contains(string(s.read(dir, "composer.json")), "phpunit"):
			runner = "vendor/bin/phpunit"
			if !s.tools.has("composer") {
				p.missing = "no composer on this machine"
			}
			c := command{stage: StageSetup, unit: dir, network: sandbox.NetworkHost}
			p.setup = append(p.setup, c.reporting(composer).strangers(composer+untouched, composerData, composer+untouched))
		case !s.tools.has("phpunit"):
			p.missing = "no phpunit on this machine"
		}
		if p.missing != "" {
			p.setup = nil
		} else {
			p.test = append(p.test, phpunitCommand(dir, runner))
		}
		out = append(out, p)
	}
	return out
}

func phpunitCommand(dir, runner string) command {
	text := runner + " --log-junit " + resultsVar
	c := command{stage: StageTest, unit: dir}.reporting(text)
	c.results = &results{
		name: "JUnit XML of PHPUnit", collect: documented(parseJUnit(byPHPUnit)),
		narrow: func(c command, p part) (command, bool) {
			if len(p.packages) != 1 { // it takes one file, or all
				return c, false
			}
			return c.reporting(text + " " + strings.Join(fromUnit(c.unit, p.packages), " ")), true
		},
	}
	return c
}

// byPHPUnit is the style of PHPUnit.
func byPHPUnit(_ []string, t junit.Test) (pkg, name string) {
	class := t.Properties["class"]
	if class == "" {
		class = t.Classname
	}
	return t.Properties["file"], class + "::" + t.Name
}
