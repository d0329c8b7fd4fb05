package languages

import "github.com/ycbot/ycbot/internal/gate/ecosystem"

// Lacks names what the functions that every ecosystem needs are missing of.
func Lacks(e *ecosystem.Ecosystem) []string {
	var out []string
	if e.Find == nil {
		out = append(out, "a function that finds its projects")
	}
	if len(e.Programs) == 0 {
		out = append(out, "the programs that run its tests")
	}
	if e.Classes.Test == nil && e.Classes.Steering == nil {
		out = append(out, "a table of what files are to the tests")
	}
	return out
}
