package ecosystem

// A Program is one that a project gives to those who use it, on a command line.
type Program struct {
	Name    string
	Eco     string // name of its ecosystem
	Dir     string // the folder that its sources are in or below
	Package string // import path; empty: it belongs to no package

	// Calls are the words by which command lines call it.
	Calls [][]string
	// Make is what makes it at "$PROGRAM", in a shell at the top of the tree; empty: it
	// is run as it stands.
	Make string
	// Start are the words of a shell that run it, without its arguments, as a person types
	// them, where up leads to the top of the tree.
	Start func(up string) string
	// Crashed says whether it ended by what nothing caught, by its exit code and what it
	// wrote to standard error.
	Crashed func(exit int, stderr string) bool
}
