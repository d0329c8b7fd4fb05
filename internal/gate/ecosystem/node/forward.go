package node

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	nodeExports       = pattern.New(`(?m)^\s*(?:export\b|import\b[^(.])`)
	nodeDefaultExport = pattern.New(`\bexport\s+default\b|\bas\s+default\b`)
)

// forward is a module that gives all that the one at its new place exports: one of ECMAScript
// where that one is (https://tc39.es/ecma262/#sec-exports), else one of CommonJS.
func forward(m ecosystem.Moved) []byte {
	ext := path.Ext(m.Old)
	way := m.Way()
	switch {
	case ext != path.Ext(m.New) || strings.HasSuffix(m.Old, ".d.ts"):
		return nil
	case ext == ".ts" || ext == ".tsx" || ext == ".mts":
		way = strings.TrimSuffix(way, ext) + wantedExt(m, ext)
	case !nodeExports.Match(m.Source) && ext != ".mjs":
		return fmt.Appendf(nil, "module.exports = require(%q);\n", way)
	}
	out := fmt.Appendf(nil, "export * from %q;\n", way)
	if nodeDefaultExport.Match(m.Source) {
		out = fmt.Appendf(out, "export { default } from %q;\n", way)
	}
	return out
}

// wantedExt is what the paths end with by which others import a module of TypeScript: its own
// ending, that of what is compiled of it, or nothing.
func wantedExt(m ecosystem.Moved, ext string) string {
	stem := strings.TrimSuffix(path.Base(m.Old), ext)
	for _, end := range []string{ext, strings.Replace(strings.TrimSuffix(ext, "x"), "ts", "js", 1)} {
		for _, src := range m.Wanted {
			for _, quote := range []string{`"`, `'`} {
				if bytes.Contains(src, []byte("/"+stem+end+quote)) {
					return end
				}
			}
		}
	}
	return ""
}
