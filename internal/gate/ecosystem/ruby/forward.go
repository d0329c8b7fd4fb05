package ruby

import (
	"fmt"
	"path"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// forward requires the source at its new place.
func forward(m ecosystem.Moved) []byte {
	if path.Ext(m.Old) != ".rb" || path.Ext(m.New) != ".rb" {
		return nil
	}
	return fmt.Appendf(nil, "require_relative %q\n", m.Way())
}
