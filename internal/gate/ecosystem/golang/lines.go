package golang

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// goLines reads the profile of "go test -coverprofile".
func goLines() *ecosystem.LineMeter {
	return &ecosystem.LineMeter{
		Knows: func(name string) bool { return path.Ext(name) == ".go" },
		Command: func(c ecosystem.Command, q ecosystem.Counting) (ecosystem.Command, string) {
			if c.Results == nil {
				return c, ecosystem.Unnamed(c)
			}
			var pkgs []string
			for _, p := range q.Own {
				if p.Unit == q.Unit {
					pkgs = append(pkgs, p.ImportPath)
				}
			}
			if len(pkgs) == 0 || len(q.Tested) == 0 {
				return c, "no tests ran of packages that the change can affect"
			}
			slices.Sort(pkgs)
			args := []string{"-count=1", "-vet=off", fmt.Sprintf("-coverpkg=%s", strings.Join(slices.Compact(pkgs), ","))}
			return covered(goTestWith(c, append(args, q.Tested...)...)), ""
		},
		Reader: func(c results.Collector, _ ecosystem.Counting) *results.LineCounts { return results.NewLineCounts(c) },
	}
}

// goConstraint is the line of a source that says where it is compiled.
var goConstraint = pattern.New(`(?m)^//go:build (.*)$`)

// excluded says why a source of Go is not compiled with the package of its folder.
func excluded(src []byte) string {
	if c := goConstraint.FindSubmatch(src); c != nil {
		return "its constraint leaves it out here: " + string(c[1])
	}
	return "its name or its package clause leaves it out of the package of its folder"
}
