package dotnet

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// sdkWanted is what a project builds for (https://learn.microsoft.com/dotnet/standard/frameworks), and
// the version of the SDK in a global.json.
var sdkWanted = pattern.New(`\bnet(?:coreapp)?(\d+\.\d+)\b|"version"\s*:\s*"(\d+\.\d+[\d.]*)`)

// asks are the files of projects that ask for a version of the SDK.
func asks() []ecosystem.Asking {
	return []ecosystem.Asking{{
		Tool: ".NET", Program: "dotnet",
		In: func(name string) bool {
			return path.Base(name) == "global.json" || slices.Contains([]string{".csproj", ".fsproj", ".vbproj", ".props"}, path.Ext(name))
		},
		Version: func(src []byte) string { // the newest of several
			var all []string
			for _, m := range sdkWanted.FindAllStringSubmatch(string(src), -1) {
				all = append(all, ">="+m[1]+m[2])
			}
			return strings.Join(all, " ")
		},
		Refuses: pattern.New(`NETSDK1045|A compatible \.NET SDK was not found|Requested SDK version`),
	}}
}
