package golang

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var major = pattern.New(`^v\d+$`)

// providedByGo are packages that are commands.
func providedByGo(tree fs.FS, _ []string, pkgs []ecosystem.Package) []ecosystem.Program {
	var out []ecosystem.Program
	for _, p := range pkgs {
		if len(p.GoFiles) == 0 || p.Eco != "Go" || ecosystem.IgnoredDir(p.Dir) {
			continue
		}
		src, err := fs.ReadFile(tree, path.Join(p.Dir, p.GoFiles[0]))
		if err != nil {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.PackageClauseOnly)
		if err != nil || file.Name.Name != "main" {
			continue
		}
		name := path.Base(p.ImportPath)
		if major.MatchString(name) {
			name = path.Base(path.Dir(p.ImportPath))
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p.Dir, p.Unit), "/")
		if p.Unit == "." {
			rel = p.Dir
		}
		target := "./" + path.Clean(rel)
		build := "go build -o \"$PROGRAM\" " + ecosystem.Quoted(target)
		out = append(out, ecosystem.Program{
			Name: name, Dir: p.Dir, Package: p.ImportPath,
			Calls: [][]string{{name}, {"./" + name}, {"go", "run", target}, {"go", "run", p.ImportPath}, {"go", "run", "./" + p.Dir}, {"go", "run", target + "/main.go"}, {"go", "run", "main.go"}},
			Make:  "cd " + ecosystem.Quoted(p.Unit) + " && { GOFLAGS=\"$GOFLAGS -buildvcs=false\" " + build + " 2>/dev/null || " + build + "; }",
			Start: func(up string) string {
				dir := path.Join(up, p.Dir)
				if !strings.HasPrefix(dir, ".") {
					dir = "./" + dir
				}
				return "go run " + ecosystem.Quoted(dir)
			},
			Crashed: func(exit int, stderr string) bool {
				return exit == 2 && strings.Contains(stderr, "\ngoroutine ") && goCrash.MatchString(stderr)
			},
		})
	}
	return out
}

var goCrash = pattern.New(`(?m)^(panic: |fatal error: )`)
