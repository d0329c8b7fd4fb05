package node

import (
	_ "embed" // of the driver
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

//go:embed behave.mjs
var nodeBehave string

// nodeBehaviour calls what modules export that Node.js loads as they are, or that a compiler
// of the project makes such.
func nodeBehaviour() *ecosystem.Behaviour {
	return &ecosystem.Behaviour{
		ByFile: true,
		Plan: func(base, head fs.FS, at ecosystem.Calling) (behave.Planned, bool) {
			var files []string
			for _, f := range at.Files {
				if callable(f) {
					files = append(files, f)
				}
			}
			at.Files = files
			return ecosystem.PlanScript(behave.Script{
				Driver: nodeBehave, Comment: "//",
				Call: `await main(JSON.parse(Buffer.from("DATA", "base64").toString()))`,
			}, base, head, at, New().IsTest, jsDefines)
		},
		File: func(test string) string { return "zz_" + strings.ToLower(test) + ".mjs" },
		Calls: func(c ecosystem.Command, _, test, which string) ecosystem.Command {
			argv := []string{"node", "zz_" + strings.ToLower(test) + ".mjs"}
			if which != "" {
				argv = append([]string{"env", "CALLS=" + which}, argv...)
			}
			c.Argv, c.Text, c.Results = argv, ecosystem.Quoted(argv...), nil
			return c
		},
	}
}

// callable says whether a file can be a module with functions.
func callable(name string) bool {
	base := path.Base(name)
	return slices.Contains([]string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".tsx"}, path.Ext(name)) && !strings.Contains(base, ".config.") && !strings.Contains(base, ".d.")
}

// jsDefines are names that code gives to what it defines or exports.
var jsDefines = pattern.New(`(?m)(?:\b(?:function\s*\*?|class|const|let|var)\s+|\bexports\.|\.prototype\.)([\w$]+)|^\s+(?:static\s+|async\s+|get\s+)*([\w$]+)\s*\([^)\n]*\)\s*\{`)
