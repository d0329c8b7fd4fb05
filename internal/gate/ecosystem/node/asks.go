package node

import (
	"encoding/json"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// asks are the tools of which a package.json asks for a version
// (https://docs.npmjs.com/cli/configuring-npm/package-json#engines).
func asks() []ecosystem.Asking {
	var out []ecosystem.Asking
	for _, engine := range []struct{ name, tool string }{{"node", "Node.js"}, {"npm", "npm"}, {"pnpm", "pnpm"}, {"yarn", "yarn"}} {
		out = append(out, ecosystem.Asking{
			Tool: engine.tool, Program: engine.name, In: ecosystem.Named("package.json"),
			Version: func(src []byte) string {
				var m struct {
					Engines map[string]string `json:"engines"`
				}
				if json.Unmarshal(src, &m) != nil {
					return ""
				}
				return m.Engines[engine.name]
			},
			Refuses: refuses,
		})
	}
	return out
}

// refuses is what package managers say of engines, and Node.js of what newer ones have.
var refuses = pattern.New(`EBADENGINE|ERR_PNPM_UNSUPPORTED_ENGINE|The engine "\w+" is incompatible with this module|(?m)^SyntaxError: |ERR_UNKNOWN_BUILTIN_MODULE`)
