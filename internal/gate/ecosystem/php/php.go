// Package php is PHP, set up by Composer and tested by PHPUnit.
//
// data.go cuts what Composer reads for a head that is not trusted.
package php

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

var (
	phpHolds  = pattern.New(`\bextends\s+\\?(?:\w+\\)*\w*TestCase\b`)
	phpTested = pattern.New(`(?i)\bfunction\s+test|@test\b|#\[(?:\w*\\)*Test\b`)
)

func phpClasses() ecosystem.ClassTable {
	folders := []string{"tests", "test", "Tests"}
	return ecosystem.ClassTable{
		Steering: ecosystem.Called("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"),
		Support: func(name string, _ []byte) bool {
			return ecosystem.InFolder(name, folders...) && ecosystem.Called("bootstrap.php", "TestCase.php", "Pest.php")(name, nil)
		},
		Test:    func(name string, _ []byte) bool { return strings.HasSuffix(name, "Test.php") },
		Holds:   ecosystem.WhereWritten([]string{"src", "lib", "app"}, phpHolds, phpTested),
		Folders: folders,
		Mixed:   ecosystem.MixedBy(map[string]*ecosystem.Mixture{"composer.json": {Class: compare.Steering, Merge: ecosystem.MergeJSON("scripts")}}),
		Origins: ecosystem.OriginsIn(map[string]func([]byte) ecosystem.Origins{"composer.json": composerRepositories, "composer.lock": composerOrigins}),
	}
}

// New is PHP tested with PHPUnit.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: "PHP", ByGit: true, Units: "PHP projects",
		Programs: strings.Fields("php composer"),
		Runners:  strings.Fields("phpunit pest"),
		Hosts:    strings.Fields("packagist.org repo.packagist.org api.github.com codeload.github.com"), // which packagist.org sends to for the archives
		Fetched:  []string{".cache/composer"},
		Find:     findPHPProjects,
		Classes:  phpClasses(),
		IsTest: func(name string) bool {
			return path.Ext(name) == ".php" && (strings.HasSuffix(name, "Test.php") || ecosystem.InFolder(name, "tests", "test", "Tests"))
		},
		Forwarding: &ecosystem.Forwarding{Whole: forward},
		IsSource:   func(name string) bool { return path.Ext(name) == ".php" },
		Steers: func(name string) bool {
			return slices.Contains([]string{"composer.json", "composer.lock", "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"}, path.Base(name))
		},
		Asks:  asks(),
		Older: ecosystem.OlderIn("composer.lock", composerVersions),
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

func findPHPProjects(s *ecosystem.Survey) []ecosystem.Project {
	var out []ecosystem.Project
	for _, dir := range s.Dirs("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", "composer.json") {
		config := s.First(dir, "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
		needs := string(s.Read(dir, "composer.json"))
		pest := strings.Contains(needs, `"pestphp/pest"`) // which PHPUnit by itself does not read (https://pestphp.com)
		if config == "" && !pest && !strings.Contains(needs, "phpunit") {
			continue
		}
		p := ecosystem.Project{Dir: dir, What: "PHP project"}
		if dir != "." {
			p.What += " in " + dir
		}
		for _, n := range []string{config, "composer.json", "composer.lock"} {
			if n != "" && s.Has(dir, n) {
				p.Why = append(p.Why, path.Join(dir, n))
			}
		}
		runner := "phpunit"
		switch {
		case !s.Tools.Has("php"):
			p.Missing = s.Tools.Lack("php")
		case pest || strings.Contains(needs, "phpunit"):
			install := composer
			switch bin := binFolder([]byte(needs)); {
			case pest:
				runner = bin + "/pest"
			case strings.Contains(needs, `"symfony/phpunit-bridge"`) && !strings.Contains(needs, `"phpunit/phpunit"`):
				runner = bin + "/simple-phpunit" // which brings PHPUnit itself
				install += " && " + runner + " install"
			default:
				runner = bin + "/phpunit"
			}
			if !s.Tools.Has("composer") {
				p.Missing = s.Tools.Lack("composer")
			}
			c := ecosystem.Command{Stage: results.StageSetup, Unit: dir, Network: sandbox.NetworkHost}
			p.Setup = append(p.Setup, c.Reporting(install).ForStrangers(composer+untouched, composerData, composer+untouched))
		case !s.Tools.Has("phpunit"):
			p.Missing = s.Tools.Lack("phpunit")
		}
		if p.Missing != "" {
			p.Setup = nil
		} else {
			p.Test = append(p.Test, phpunitCommand(dir, runner))
			if config != "" && stopsPHPUnit.Match(s.Read(dir, config)) {
				p.Notes = append(p.Notes, config+" has it stop at a failure, so that nothing is known of what comes behind one")
			}
		}
		out = append(out, p)
	}
	return out
}

// binFolder is where Composer installs programs (https://getcomposer.org/doc/06-config.md#bin-dir).
func binFolder(manifest []byte) string {
	var doc struct {
		Config struct {
			Bin    string `json:"bin-dir"`
			Vendor string `json:"vendor-dir"`
		}
	}
	_ = json.Unmarshal(manifest, &doc) // of what cannot be read Composer says so
	vendor := cmp.Or(doc.Config.Vendor, "vendor")
	bin := path.Clean(strings.ReplaceAll(cmp.Or(doc.Config.Bin, vendor+"/bin"), "{$vendor-dir}", vendor))
	if !binName.MatchString(bin) {
		return "vendor/bin"
	}
	return bin
}

// binName is a folder in the tree, as a shell takes it.
var binName = pattern.New(`^[\w-][\w.-]*(/[\w-][\w.-]*)*$`)

func phpunitCommand(dir, runner string) ecosystem.Command {
	text := runner + " --log-junit " + ecosystem.ResultsVar
	c := ecosystem.Command{Stage: results.StageTest, Unit: dir}.Reporting(text)
	c.Results = &ecosystem.Results{
		Name: "JUnit XML of PHPUnit", Collect: results.Documented(results.ParsePHPUnit),
		Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
			if len(p.Packages) != 1 { // it takes one file, or all
				return c, false
			}
			return c.Reporting(text + " " + strings.Join(ecosystem.FromUnit(c.Unit, p.Packages), " ")), true
		},
	}
	c.Results.PlantedBy(ecosystem.Planter{Most: 1, Plant: func(_ ecosystem.Command, file, src, name string) ecosystem.Planted {
		at, _, text := ecosystem.ClassCopy(file, src, name, "\n    public function test"+ecosystem.Capital(name)+"(): void\n    {\n        self::assertSame(1, 2);\n    }\n")
		return ecosystem.Planted{Path: at, Package: at, Text: text}
	}})
	return c
}

// stopsPHPUnit is a setting of PHPUnit by which it stops at a failure, which no option takes back.
var stopsPHPUnit = pattern.New(`\bstopOn(?:Failure|Error|Defect)\s*=\s*"true"`)
