package native

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// forward is a header that includes the one at its new place; a source would be compiled twice
// by a build that takes all that it finds.
func forward(m ecosystem.Moved) []byte {
	if !slices.Contains([]string{".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"}, path.Ext(m.Old)) {
		return nil
	}
	return includes(m)
}

func includes(m ecosystem.Moved) []byte { return fmt.Appendf(nil, "#include %q\n", m.Way()) }

var quotedHeader = pattern.New(`(?m)^\s*#\s*include\s*"([^"\n]+)"`)

// Compiled stands for a source that moved where a Makefile compiles it, as it was: it includes the one
// at the new place, or is the same where that one would not find its headers, which has says. It is nil
// where the Makefile names neither the source nor all of a folder.
func Compiled(m ecosystem.Moved, makefile []byte, has func(string) bool) []byte {
	ext := path.Ext(m.Old)
	named := strings.TrimSuffix(path.Base(m.Old), ext) + "."
	if !slices.Contains([]string{".c", ".cc", ".cpp", ".cxx"}, ext) || !bytes.Contains(makefile, []byte(named)) && !bytes.Contains(makefile, []byte("*"+ext)) {
		return nil
	}
	for _, h := range quotedHeader.FindAllSubmatch(m.Source, -1) {
		if !has(path.Join(path.Dir(m.New), string(h[1]))) {
			return m.Source
		}
	}
	return includes(m)
}

// functionStart begins a function that other sources can call.
var functionStart = pattern.New(`(?m)^(?:[A-Za-z_][\w:<>,]*[\s*&]+)+([A-Za-z_]\w*)\s*\([^;{}]*\{`)

// Functions are the functions of a source of C or C++ that others can call.
func Functions(src []byte) []string {
	var out []string
	for _, m := range functionStart.FindAllSubmatch(src, -1) {
		if !bytes.HasPrefix(m[0], []byte("static")) {
			out = append(out, string(m[1]))
		}
	}
	return out
}
