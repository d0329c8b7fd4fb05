package ecosystem

// Lacks names what the functions that every ecosystem needs are missing of.
func Lacks(e *Ecosystem) []string {
	var out []string
	if e.find == nil {
		out = append(out, "a function that finds its projects")
	}
	if len(e.Programs) == 0 {
		out = append(out, "the programs that run its tests")
	}
	if e.classes.test == nil && e.classes.steering == nil {
		out = append(out, "a table of what files are to the tests")
	}
	return out
}
