package ecosystem

// A Making is a command of a project that makes files which its sources need and its repository
// has not.
type Making struct {
	Command
	From string // the file that names it
}
