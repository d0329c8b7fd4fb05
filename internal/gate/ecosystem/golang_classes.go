package ecosystem

import (
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
)

// goMain is what makes a test file one that others depend on.
var (
	goMain   = pattern.New(`(?m)^func TestMain\(`)
	goTested = pattern.New(`(?m)^func (Test|Example|Fuzz|Benchmark)`)
)

func goClasses() classTable {
	isTest := func(name string) bool { return strings.HasSuffix(name, "_test.go") }
	return classTable{
		steering: called("go.work"),
		support: func(name string, src []byte) bool {
			return isTest(name) && src != nil && (goMain.Match(src) || !goTested.Match(src))
		},
		test:  func(name string, _ []byte) bool { return isTest(name) },
		mixed: mixedBy(map[string]*Mixture{"go.mod": {compare.Steering, mergeGoMod}}),
	}
}

// mergeGoMod puts the base's toolchain, tool and ignore lines into the head's go.mod.
func mergeGoMod(base, head []byte) ([]byte, error) {
	into, err := modfile.Parse("go.mod", head, nil)
	if err != nil {
		return nil, err
	}
	from := &modfile.File{Syntax: &modfile.FileSyntax{}}
	if base != nil {
		if from, err = modfile.Parse("go.mod", base, nil); err != nil {
			return head, nil //nolint:nilerr // what the go command refuses steers nothing
		}
	}
	before := string(modfile.Format(into.Syntax))
	for _, t := range slices.Clone(into.Tool) {
		err = joinErrors(err, into.DropTool(t.Path))
	}
	for _, i := range slices.Clone(into.Ignore) {
		err = joinErrors(err, into.DropIgnore(i.Path))
	}
	into.DropToolchainStmt()
	for _, t := range from.Tool {
		err = joinErrors(err, into.AddTool(t.Path))
	}
	for _, i := range from.Ignore {
		err = joinErrors(err, into.AddIgnore(i.Path))
	}
	if from.Toolchain != nil {
		err = joinErrors(err, into.AddToolchainStmt(from.Toolchain.Name))
	}
	into.Cleanup()
	if after := modfile.Format(into.Syntax); err != nil || string(after) != before {
		return after, err
	}
	return head, nil
}

func joinErrors(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
