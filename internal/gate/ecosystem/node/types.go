package node

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// nodeName is what people call the ecosystem.
const nodeName = "Node.js"

var (
	typeCheck   = pattern.New(`(?m)(?:^|[\s;&|/"'])(?:tsc|vue-tsc|svelte-check|tsd|dtslint)(?:\s[^;&|"'\n]*|[;&|"']|$)`)
	typeProject = pattern.New(`\s(?:-p|--project|-b|--build)[\s=]+([\w./-]+)`)
)

// CompilerSettings are the files that say what a compiler of TypeScript looks at, where a recipe
// of tests runs one, and the ecosystem of that: what it does not look at, it finds no fault with
// (https://www.typescriptlang.org/tsconfig/#files).
func CompilerSettings(recipe string) map[string]string {
	out := map[string]string{}
	for _, call := range typeCheck.FindAllString(recipe, -1) {
		m := typeProject.FindStringSubmatch(call)
		switch {
		case m == nil || m[1] == ".":
			out["tsconfig.json"] = nodeName
		case strings.HasSuffix(m[1], ".json"):
			out[m[1]] = nodeName
		default:
			out[m[1]+"/tsconfig.json"] = nodeName
		}
	}
	return out
}

var loaderProject = pattern.New(`(?:\b(?:TS_NODE_PROJECT|TSX_TSCONFIG_PATH)=|--(?:tsconfig|project|tsconfig-override)[\s=]+|\s-P[\s=]*)["']?([\w./-]+\.json)\b`)

// LoaderSettings are the files by which a recipe has tests compiled while they are loaded, by
// whatever name.
func LoaderSettings(recipe string) []string {
	var out []string
	for _, m := range loaderProject.FindAllStringSubmatch(recipe, -1) {
		out = append(out, m[1])
	}
	return out
}
