package ecosystem

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

func dotnetClasses() classTable {
	return classTable{
		steering: called("*.runsettings", "xunit.runner.json", "testconfig.json"),
		test: func(name string, _ []byte) bool {
			return slices.Contains([]string{".cs", ".fs", ".vb"}, path.Ext(name)) && dotnetTests.MatchString(name)
		},
		holds: whereWritten(nil, dotnetHolds, dotnetTested),
	}
}

// dotnetEcosystem is .NET, by its solutions, or its projects where there is none.
func dotnetEcosystem() *Ecosystem {
	return &Ecosystem{
		Name: ".NET", Units: ".NET projects", Bound: true,
		Programs: strings.Fields("dotnet"),
		Hosts:    strings.Fields("api.nuget.org www.nuget.org globalcdn.nuget.org"),
		Fetched:  []string{".nuget/packages"},
		find:     findDotnetProjects,
		classes:  dotnetClasses(),
		IsTest: func(name string) bool {
			return slices.Contains([]string{".cs", ".fs", ".vb"}, path.Ext(name)) && dotnetTests.MatchString(name)
		},
		IsSource: func(name string) bool { return slices.Contains([]string{".cs", ".fs", ".vb"}, path.Ext(name)) },
		Steers: func(name string) bool {
			return slices.Contains([]string{".sln", ".slnx", ".csproj", ".fsproj", ".vbproj", ".props", ".targets"}, path.Ext(name)) ||
				slices.Contains([]string{"global.json", "packages.lock.json", "NuGet.config", "nuget.config"}, path.Base(name))
		},
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
	dotnetTests   = pattern.New(`(?i)(^|/)[^/]*tests?(/|\.[cfv][sb]$)`)
	dotnetMissing = pattern.New(`error CS(?:0103|0117|1061|0246|0234): .*?(?:definition for|name|member) '(\w+)'`)
)

func findDotnetProjects(s *Survey) []Project {
	var solutions, projects []string
	for _, f := range s.files {
		switch {
		case IgnoredDir(path.Dir(f)):
		case slices.Contains([]string{".sln", ".slnx"}, path.Ext(f)):
			solutions = append(solutions, f)
		case slices.Contains([]string{".csproj", ".fsproj", ".vbproj"}, path.Ext(f)):
			projects = append(projects, f)
		}
	}
	if len(solutions) == 0 {
		solutions = slices.DeleteFunc(projects, func(f string) bool { return !dotnetTests.MatchString(f) })
	}
	var out []Project
	for _, f := range solutions {
		dir := path.Dir(f)
		if slices.ContainsFunc(out, func(p Project) bool { return Inside(p.Dir, dir) }) {
			continue
		}
		p := Project{Dir: dir, What: ".NET solution " + path.Base(f), Why: []string{f}}
		if !s.tools.Has("dotnet") {
			p.Missing = s.tools.lack("dotnet")
			out = append(out, p)
			continue
		}
		file := quoted(path.Base(f))
		env := "DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 "
		setup := Command{Stage: StageSetup, Unit: dir, Network: sandbox.NetworkHost}
		p.Setup = []Command{setup.reporting(env + "dotnet restore " + file)}
		p.Build = []Command{Command{Stage: StageBuild, Unit: dir}.reporting(env + "dotnet build --no-restore " + file)}
		text := env + "dotnet test --no-restore " + file + " --logger trx"
		t := Command{Stage: StageTest, Unit: dir}
		t = t.reporting(text + ` --results-directory "$RESULTS_DIR/trx"; status=$?; cat "$RESULTS_DIR"/trx/*.trx > "$RESULTS"; exit $status`)
		t.Text = text
		t.Results = &Results{Name: "TRX of dotnet test", Collect: grouped(parseTRX), Narrow: func(c Command, _ Part) (Command, bool) { return c, false }}
		p.Test = []Command{t}
		out = append(out, p)
	}
	return out
}
