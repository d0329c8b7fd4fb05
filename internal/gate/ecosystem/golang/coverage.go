package golang

import (
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// goCoverage counts lines by the go command's own coverage.
func goCoverage() *ecosystem.Coverage {
	return &ecosystem.Coverage{
		Count: func(c ecosystem.Command, changed []ecosystem.Package, pkgs []string) (ecosystem.Command, *results.LineCounts) {
			counts := results.NewLineCounts(c.Results.Collect(c.Unit))
			return covered(goTestWith(c, slices.Concat([]string{"-count=1"}, coverPackages(changed, pkgs), pkgs)...)), counts
		},
		Mutant: func(c ecosystem.Command, pkgs []string, limit time.Duration, first bool) ecosystem.Command {
			args := []string{"-count=1", "-vet=off", "-timeout=" + limit.String()}
			if first {
				args = append(args, "-failfast")
			}
			return goTestWith(c, append(args, pkgs...)...)
		},
		Variants: goVariants(),
	}
}

// coverPackages counts the changed packages' lines also where other packages'
// tests run them, because they have none of their own.
func coverPackages(changed []ecosystem.Package, tested []string) []string {
	var names []string
	for _, p := range changed {
		if slices.Contains(tested, p.ImportPath) {
			return nil // each package's own tests are meant to notice
		}
		names = append(names, p.ImportPath)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{"-coverpkg=" + strings.Join(slices.Compact(names), ",")}
}

// covered writes the counts of lines behind the results. They come by standard
// output, so that they are in the evidence.
func covered(c ecosystem.Command) ecosystem.Command {
	const file = `"$HOME/cover.out"`
	c.Text = strings.Replace(ecosystem.ShellWords(c), "-json", "-json -coverprofile="+file, 1) + `; code=$?; cat ` + file + `; exit $code`
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", c.Text}
	return c
}
