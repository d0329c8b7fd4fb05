// Package dotnet is .NET, by its solutions, or its projects where there is none.
package dotnet

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sorted"
)

func dotnetClasses() ecosystem.ClassTable {
	return ecosystem.ClassTable{
		Steering: ecosystem.Called("*.runsettings", "xunit.runner.json", "testconfig.json"),
		Test: func(name string, _ []byte) bool {
			return isSource(name) && isTestName(name)
		},
		Holds:    ecosystem.WhereWritten(nil, dotnetHolds, dotnetTested),
		ForTests: ofTestProject,
	}
}

// New is .NET, by its solutions, or its projects where there is none.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: ".NET", Units: ".NET projects", Bound: true,
		Programs: strings.Fields("dotnet"),
		Hosts:    strings.Fields("api.nuget.org www.nuget.org globalcdn.nuget.org"),
		Fetched:  []string{".nuget/packages"},
		Find:     findDotnetProjects,
		Classes:  dotnetClasses(),
		IsTest:   func(name string) bool { return isSource(name) && isTestName(name) },
		IsSource: isSource,
		Steers: func(name string) bool {
			return slices.Contains([]string{".sln", ".slnx", ".csproj", ".fsproj", ".vbproj", ".props", ".targets"}, path.Ext(name)) ||
				slices.Contains([]string{"global.json", "packages.lock.json", "NuGet.config", "nuget.config"}, path.Base(name))
		},
		Asks: asks(),
		Absent: func(output string) (string, bool) {
			m := dotnetMissing.FindStringSubmatch(output)
			if m == nil {
				return "", false
			}
			return m[1], false
		},
	}
}

var (
	dotnetHolds   = pattern.New(`(?mi)^\s*(?:using|open|imports)\s+(?:Xunit|NUnit\.Framework|Microsoft\.VisualStudio\.TestTools)`)
	dotnetTested  = pattern.New(`(?m)\[(?:\w+[,(][^\]]*|\s*)?<?(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b`)
	dotnetTests   = pattern.New(`(?:(?i:(?:^|[/._-])(?:unit|integration)?tests?)|Tests?)(?:/|\.[cfv][sb]$)`) // as a word of its own
	dotnetJoined  = pattern.New(`(?:^|[._-])([a-z0-9]{2,}tests)(?:\.[cfv][sb])?$`)                           // as the end of one, in the plural
	dotnetMissing = pattern.New(`error CS(?:0103|0117|1061|0246|0234): .*?(?:definition for|name|member) '(\w+)'`)
)

func isSource(name string) bool {
	return slices.Contains([]string{".cs", ".fs", ".vb"}, path.Ext(name))
}

// isTestName says whether a file is one of tests by its name, or by that of a folder which it is in.
func isTestName(name string) bool {
	return dotnetTests.MatchString(name) || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		m := dotnetJoined.FindStringSubmatch(part)
		return m != nil && !slices.Contains(otherWords, m[1])
	})
}

// otherWords end as tests do.
var otherWords = strings.Fields("contests protests attests detests")

// A project of tests, and one that others have as a package
// (https://learn.microsoft.com/dotnet/core/project-sdk/msbuild-props#istestproject).
var (
	testProject = pattern.New(`(?i)<PackageReference\s[^>]*\b(?:Include|Update)="(?:Microsoft\.NET\.Test\.Sdk|xunit|xunit\.v3|NUnit|MSTest|MSTest\.TestFramework|TUnit)"|\bSdk="MSTest\.Sdk\b|<IsTestProject>\s*true\s*</`)
	noneOfTests = pattern.New(`(?i)<IsTestProject>\s*false\s*</|<PackageId>|<GeneratePackageOnBuild>\s*true\s*</`)
)

func isTestProject(src []byte) bool { return testProject.Match(src) && !noneOfTests.Match(src) }

// ofTestProject says whether a source is in a project of tests, which is called as its folder.
func ofTestProject(name string, read func(string) []byte) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		for _, ext := range []string{".csproj", ".fsproj", ".vbproj"} {
			if src := read(path.Join(dir, path.Base(dir)+ext)); src != nil {
				return isTestProject(src)
			}
		}
	}
	return false
}

// A project in a solution, of the old format and of the one in XML.
var inSln = pattern.New(`(?m)^\s*Project\("[^"]*"\)\s*=\s*"[^"]*",\s*"([^"]+\.\w+proj)"|<Project\s[^>]*\bPath="([^"]+)"`)

// inSolution are the projects that the commands for a solution build, as paths in the repository;
// of one that names none all below it, and of a project itself.
func inSolution(s *ecosystem.Survey, file string) []string {
	if !slices.Contains([]string{".sln", ".slnx"}, path.Ext(file)) {
		return []string{file}
	}
	var out []string
	for _, m := range inSln.FindAllSubmatch(s.Read(".", file), -1) {
		out = append(out, path.Join(path.Dir(file), strings.ReplaceAll(string(m[1])+string(m[2]), `\`, "/")))
	}
	if len(out) > 0 {
		return out
	}
	return slices.DeleteFunc(slices.Clone(s.Files), func(f string) bool {
		return !strings.HasSuffix(f, "proj") || !ecosystem.Inside(path.Dir(file), f)
	})
}

func findDotnetProjects(s *ecosystem.Survey) []ecosystem.Project {
	var solutions, projects []string
	for _, f := range s.Files {
		switch {
		case ecosystem.IgnoredDir(path.Dir(f)):
		case slices.Contains([]string{".sln", ".slnx"}, path.Ext(f)):
			solutions = append(solutions, f)
		case slices.Contains([]string{".csproj", ".fsproj", ".vbproj"}, path.Ext(f)):
			projects = append(projects, f)
		}
	}
	depth := func(a, b string) int { return cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")) }
	sorted.By(solutions, depth) // those above first
	tests := func(f string) bool {
		return isTestName(f) || strings.HasSuffix(f, "proj") && s.Has(".", f) && isTestProject(s.Read(".", f))
	}
	projects = slices.DeleteFunc(projects, func(f string) bool { return !tests(f) })
	whole := len(solutions) == 0
	parts := map[string]bool{} // projects of solutions that are found
	var out []ecosystem.Project
	for _, f := range slices.Concat(solutions, projects) {
		dir := path.Dir(f)
		around := slices.ContainsFunc(out, func(p ecosystem.Project) bool { return ecosystem.Inside(p.Dir, dir) })
		named := inSolution(s, f)
		apart := slices.ContainsFunc(named, func(p string) bool { return !parts[p] && s.Has(".", p) && tests(p) })
		if around && (whole || !apart || slices.ContainsFunc(out, func(p ecosystem.Project) bool { return p.Dir == dir }) || !s.Apart(dir, func(name string) bool { return tests(path.Join(dir, name)) })) {
			continue
		}
		for _, p := range named {
			parts[p] = true
		}
		p := ecosystem.Project{Dir: dir, What: ".NET solution " + path.Base(f), Why: []string{f}}
		if !s.Tools.Has("dotnet") {
			p.Missing = s.Tools.Lack("dotnet")
			out = append(out, p)
			continue
		}
		file := ecosystem.Quoted(path.Base(f))
		env := "DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 "
		setup := ecosystem.Command{Stage: results.StageSetup, Unit: dir, Network: sandbox.NetworkHost}
		p.Setup = []ecosystem.Command{setup.Reporting(env + "dotnet restore " + file)}
		p.Build = []ecosystem.Command{ecosystem.Command{Stage: results.StageBuild, Unit: dir}.Reporting(env + "dotnet build --no-restore " + file)}
		text := env + "dotnet test --no-restore " + file + " --logger trx"
		t := ecosystem.Command{Stage: results.StageTest, Unit: dir}
		t = t.Reporting(text + ` --results-directory "$RESULTS_DIR/trx"; status=$?; cat "$RESULTS_DIR"/trx/*.trx > "$RESULTS"; exit $status`)
		t.Text = text
		t.Results = &ecosystem.Results{Name: "TRX of dotnet test", Collect: results.Grouped(results.ParseTRX), Narrow: func(c ecosystem.Command, _ ecosystem.Part) (ecosystem.Command, bool) { return c, false }}
		p.Test = []ecosystem.Command{t}
		out = append(out, p)
	}
	return out
}
