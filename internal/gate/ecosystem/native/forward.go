package native

import (
	"fmt"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// forward is a header that includes the one at its new place; a source would be compiled twice.
func forward(m ecosystem.Moved) []byte {
	if !slices.Contains([]string{".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"}, path.Ext(m.Old)) {
		return nil
	}
	return fmt.Appendf(nil, "#include %q\n", m.Way())
}
