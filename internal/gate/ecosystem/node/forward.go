package node

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

var (
	nodeExports       = pattern.New(`(?m)^\s*(?:export\b|import\b[^(.])`)
	nodeOffered       = pattern.New(`(?m)^\s*export\s+(?:async\s+)?(?:function\s*\*?|class|const|let|var|enum|interface|type)\s+([\w$]+)|^\s*(?:module\.)?exports\.([\w$]+)\s*=[^=]`)
	nodeOfferedList   = pattern.New(`(?m)^\s*(?:export\s*|module\.exports\s*=\s*)\{([^{}]*)\}`)
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

// offers are the names that a module exports.
func offers(src []byte) []string {
	var out []string
	for _, m := range nodeOffered.FindAllSubmatch(src, -1) {
		out = append(out, string(m[1])+string(m[2]))
	}
	for _, m := range nodeOfferedList.FindAllSubmatch(src, -1) {
		for item := range strings.SplitSeq(string(m[1]), ",") {
			name, _, _ := strings.Cut(item, ":")
			if _, as, ok := strings.Cut(name, " as "); ok {
				name = as
			}
			if name = strings.TrimSpace(name); nodeIdentifier.MatchString(name) {
				out = append(out, name)
			}
		}
	}
	return out
}

var nodeIdentifier = pattern.New(`^[\w$]+$`)

// forwardNames is a module that exports names of others besides its own, as they are when they
// are asked for, as both can load each other.
func forwardNames(s ecosystem.Scattered) []byte {
	ext, kind := path.Ext(s.Old), s.Rest
	if kind == nil {
		kind = s.Any
	}
	typed := slices.Contains([]string{".ts", ".tsx", ".mts"}, ext)
	esm := typed || ext == ".mjs" || nodeExports.Match(kind)
	out := bytes.Clone(s.Rest)
	for _, name := range sorted.Keys(s.To, strings.Compare) {
		way := s.WayTo(name)
		if typed {
			way = strings.TrimSuffix(way, path.Ext(way)) + wantedExt(ecosystem.Moved{Old: s.Old, Wanted: s.Wanted}, ext)
		}
		if esm {
			out = fmt.Appendf(out, "\nexport { %s } from %q;\n", name, way)
		} else {
			out = fmt.Appendf(out, "\nObject.defineProperty(module.exports, %q, { enumerable: true, configurable: true, get: () => require(%q).%s });\n", name, way, name)
		}
	}
	return out
}
