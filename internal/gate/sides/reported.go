package sides

import (
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// Reported says whether the base's runners have reported tests that are written in a file, by
// whatever patterns the project has them find it. Examples of documentation are none, and
// neither are tests that Vitest finds inside of sources (https://vitest.dev/guide/in-source).
func (r *Reader) Reported(name string) bool {
	src := string(r.readBase(name))
	if strings.Contains(src, ">>>") || strings.Contains(src, "import.meta.vitest") {
		return false
	}
	for id := range r.Suites[results.Base] {
		if id.Package == name && id.Test != "" && strings.Contains(src, results.LastName(id.Test)) {
			return true
		}
	}
	return false
}
