// Package early makes the program that imports it the shim of its own sandbox
// before most of the program is initialised.
//
// Every command in a sandbox starts the program once more, as its shim, and pays
// for what that does before main: the tables, parsers and codecs of packages that
// a shim never calls. Packages are initialised by import path, each as soon as
// what it imports is (the language says so), and this one imports little: it has
// its turn before most of them. Only time rests on that; whenever it has its turn,
// a shim ends here and nothing else of the program runs.
package early

import (
	"os"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// ShimCommand is the first argument of a process that is a shim. It is no
// command of cobra's.
const ShimCommand = "sandbox-exec"

func init() { //nolint:gochecknoinits // see the package's comment
	if len(os.Args) > 1 && os.Args[1] == ShimCommand {
		os.Exit(sandbox.RunShim(os.Args[2:], os.Stdout))
	}
}
