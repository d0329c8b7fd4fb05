package ecosystem

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

var (
	phpHolds  = pattern.New(`\bextends\s+\\?(?:\w+\\)*\w*TestCase\b`)
	phpTested = pattern.New(`(?i)\bfunction\s+test|@test\b|#\[(?:\w*\\)*Test\b`)
)

func phpClasses() classTable {
	folders := []string{"tests", "test", "Tests"}
	return classTable{
		steering: called("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"),
		support: func(name string, _ []byte) bool {
			return InFolder(name, folders...) && called("bootstrap.php", "TestCase.php", "Pest.php")(name, nil)
		},
		test:    func(name string, _ []byte) bool { return strings.HasSuffix(name, "Test.php") },
		holds:   whereWritten([]string{"src", "lib", "app"}, phpHolds, phpTested),
		folders: folders,
		mixed:   mixedBy(map[string]*Mixture{"composer.json": {compare.Steering, mergeJSON("scripts")}}),
		origins: originsIn(map[string]func([]byte) origins{"composer.json": composerRepositories, "composer.lock": composerOrigins}),
	}
}

// phpEcosystem is PHP tested with PHPUnit.
func phpEcosystem() *Ecosystem {
	return &Ecosystem{
		Name: "PHP", byGit: true, Units: "PHP projects",
		Programs: strings.Fields("php composer"),
		Hosts:    strings.Fields("packagist.org repo.packagist.org api.github.com codeload.github.com"), // which packagist.org sends to for the archives
		Fetched:  []string{".cache/composer"},
		find:     findPHPProjects,
		classes:  phpClasses(),
		IsTest: func(name string) bool {
			return path.Ext(name) == ".php" && (strings.HasSuffix(name, "Test.php") || InFolder(name, "tests", "test", "Tests"))
		},
		IsSource: func(name string) bool { return path.Ext(name) == ".php" },
		Steers: func(name string) bool {
			return slices.Contains([]string{"composer.json", "composer.lock", "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"}, path.Base(name))
		},
		Absent: func(output string) (string, bool) {
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

func findPHPProjects(s *Survey) []Project {
	var out []Project
	for _, dir := range s.dirs("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", "composer.json") {
		config := s.first(dir, "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
		if config == "" && !strings.Contains(string(s.read(dir, "composer.json")), "phpunit") {
			continue
		}
		p := Project{Dir: dir, What: "PHP project"}
		if dir != "." {
			p.What += " in " + dir
		}
		for _, n := range []string{config, "composer.json", "composer.lock"} {
			if n != "" && s.has(dir, n) {
				p.Why = append(p.Why, path.Join(dir, n))
			}
		}
		runner := "phpunit"
		switch {
		case !s.tools.Has("php"):
			p.Missing = s.tools.lack("php")
		case s.has(dir, "composer.json") && strings.Contains(string(s.read(dir, "composer.json")), "phpunit"):
			runner = "vendor/bin/phpunit"
			if !s.tools.Has("composer") {
				p.Missing = s.tools.lack("composer")
			}
			c := Command{Stage: StageSetup, Unit: dir, Network: sandbox.NetworkHost}
			p.Setup = append(p.Setup, c.reporting(composer).strangers(composer+untouched, composerData, composer+untouched))
		case !s.tools.Has("phpunit"):
			p.Missing = s.tools.lack("phpunit")
		}
		if p.Missing != "" {
			p.Setup = nil
		} else {
			p.Test = append(p.Test, phpunitCommand(dir, runner))
			if file := s.first(dir, "phpunit.xml", "phpunit.xml.dist"); stopsPHPUnit.Match(s.read(dir, file)) {
				p.Notes = append(p.Notes, file+" has it stop at a failure, so that nothing is known of what comes behind one")
			}
		}
		out = append(out, p)
	}
	return out
}

func phpunitCommand(dir, runner string) Command {
	text := runner + " --log-junit " + resultsVar
	c := Command{Stage: StageTest, Unit: dir}.reporting(text)
	c.Results = &Results{
		Name: "JUnit XML of PHPUnit", Collect: Documented(parsePHPUnit),
		Narrow: func(c Command, p Part) (Command, bool) {
			if len(p.Packages) != 1 { // it takes one file, or all
				return c, false
			}
			return c.reporting(text + " " + strings.Join(fromUnit(c.Unit, p.Packages), " ")), true
		},
	}
	c.Results.into(planter{most: 1, plant: func(_ Command, file, src, name string) Planted {
		at, _, text := classCopy(file, src, name, "\n    public function test"+capital(name)+"(): void\n    {\n        self::assertSame(1, 2);\n    }\n")
		return Planted{Path: at, Package: at, Text: text}
	}})
	return c
}

// stopsPHPUnit is a setting of PHPUnit by which it stops at a failure, which no option takes back.
var stopsPHPUnit = pattern.New(`\bstopOn(?:Failure|Error|Defect)\s*=\s*"true"`)
