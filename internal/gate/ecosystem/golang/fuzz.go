package golang

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// maxInput bounds an input that is worth a command, in bytes.
const maxInput = 16 << 10

// goFuzz is the fuzzing of the go command (https://go.dev/doc/security/fuzz/).
func goFuzz() *ecosystem.Fuzz {
	return &ecosystem.Fuzz{
		Prefix: "Fuzz",
		In:     fuzzed,
		Compile: func(p ecosystem.Project, dir string) ecosystem.Command {
			m := moduleOf(p)
			return m.Command(results.StageWarm, "test", "-c", "-vet=off", "-fuzz=^$", "-o", "/dev/null", fromModule(ecosystem.FuzzTarget{ID: results.ID{Unit: m.Dir}, Dir: dir}))
		},
		Search: func(c ecosystem.Command, t ecosystem.FuzzTarget, each time.Duration) ecosystem.Command {
			return goTestWith(c, "-vet=off", "-count=1", "-run=^$", "-fuzz=^"+t.Test+"$", "-fuzztime="+each.String(), "-fuzzminimizetime=5s", "-parallel=4", t.Package)
		},
		Record:    withInput,
		Input:     fuzzInput,
		Failure:   fuzzFailure,
		TimeEnded: fuzzTimeEnded.MatchString,
		Alters: func(base, head map[string][]byte, t ecosystem.FuzzTarget) bool {
			return !slices.Equal(targetParts(base, t.Test), targetParts(head, t.Test))
		},
		Try: func(c ecosystem.Command, t ecosystem.FuzzTarget) ecosystem.Command {
			return goTestWith(c, "-vet=off", "-count=1", "-run=^"+t.Test+"$/^"+ecosystem.InputName+"$", t.Package)
		},
		Lay: layInput,
	}
}

// fuzzed says whether a folder's tests mention a fuzz target.
func fuzzed(tree fs.FS, dir string) bool {
	entries, _ := fs.ReadDir(tree, dir) // a folder that is not there has none
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if src, err := fs.ReadFile(tree, path.Join(dir, e.Name())); err == nil && bytes.Contains(src, []byte("*testing.F)")) {
			return true
		}
	}
	return false
}

// targetParts are the texts of a target and of what it uses of the tests beside it, without
// comments.
func targetParts(files map[string][]byte, target string) []string {
	fset, named := token.NewFileSet(), map[string][]ast.Node{}
	for name, src := range files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			continue // no target is in it that could be run
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				named[d.Name.Name] = append(named[d.Name.Name], d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						named[spec.Name.Name] = append(named[spec.Name.Name], spec)
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							named[id.Name] = append(named[id.Name], spec)
						}
					}
				}
			}
		}
	}
	var out []string
	seen := map[string]bool{}
	for todo := []string{target, "TestMain", "init"}; len(todo) > 0; todo = todo[1:] {
		if seen[todo[0]] {
			continue
		}
		seen[todo[0]] = true
		for _, n := range named[todo[0]] {
			var b bytes.Buffer
			if err := printer.Fprint(&b, fset, n); err != nil {
				continue // a text that was parsed can be printed
			}
			out = append(out, strings.Join(strings.Fields(b.String()), " "))
			ast.Inspect(n, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					todo = append(todo, id.Name)
				}
				return true
			})
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withInput prints the input that failed behind the results, so that it is in
// the evidence.
func withInput(c ecosystem.Command, t ecosystem.FuzzTarget) ecosystem.Command {
	began, inputs := `"$HOME/fuzz-began"`, ecosystem.Quoted(fromModule(t)+"/testdata/fuzz/"+t.Test)
	c.Text = "touch " + began + "; " + ecosystem.ShellWords(c) + "; code=$?; [ $code = 0 ] || find " + inputs +
		" -type f -newer " + began + " -exec cat {} +; exit $code"
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", c.Text}
	return c
}

// fromModule is the folder of a target's package, from where its tests are run.
func fromModule(t ecosystem.FuzzTarget) string {
	dir := t.Dir
	if t.Unit != "." {
		dir = strings.TrimPrefix(strings.TrimPrefix(dir, t.Unit), "/")
	}
	if dir == "." || dir == "" {
		return "."
	}
	return "./" + dir
}

// fuzzVersion begins the file of an input (https://go.dev/doc/security/fuzz/).
const fuzzVersion = "go test fuzz v1\n"

// fuzzInput is the file of the input that failed, from what the command printed
// beside its results; empty where there is none, or one too large for a command.
func fuzzInput(printed string) string {
	_, input, ok := strings.Cut(printed, fuzzVersion)
	if input, _, _ = strings.Cut(input, fuzzVersion); !ok || input == "" || len(input) > maxInput {
		return ""
	}
	return fuzzVersion + strings.TrimRight(input, "\n")
}

// fuzzFailure is what a target said of the input that failed, without the progress of
// the search and the name of a file that is gone.
func fuzzFailure(output string) string {
	if i := strings.Index(output, "--- FAIL: "); i > 0 {
		output = output[i:]
	}
	output, _, _ = strings.Cut(output, "\n    Failing input written to ")
	return strings.TrimSpace(output)
}

// fuzzTimeEnded is what a go command before 1.27 may say where the time ends while a
// worker answers (https://go.dev/issue/75804).
var fuzzTimeEnded = pattern.New(`^--- FAIL: \S+ \([0-9.]+s\)\n    context deadline exceeded$`)

// layInput writes an input where the target looks for what it has to try first.
func layInput(c ecosystem.Command, t ecosystem.FuzzTarget, input string) ecosystem.Command {
	dir := fromModule(t) + "/testdata/fuzz/" + t.Test
	c.Text = fmt.Sprintf("mkdir -p %s && printf '%%s\\n' %s > %s && %s", ecosystem.Quoted(dir), ecosystem.Quoted(input), ecosystem.Quoted(dir+"/"+ecosystem.InputName), ecosystem.ShellWords(c))
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", c.Text}
	return c
}
