package behave

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// A Surfaced is a plan that knows what other packages can use on the base alone.
type Surfaced interface {
	Planned
	// Calls says whether there is a function to call.
	Calls() bool
	// Gone are expressions of the package: functions, methods, types, variables and constants.
	Gone() []string
	// GoneFrom is the file of the first function among them of which the head has the file; empty: there is none.
	GoneFrom() string
	// Uses is the text that uses all of these, as it is laid under the name of a test: it
	// compiles on the base.
	Uses(test string) string
}

// maxGone bounds what is named.
const maxGone = 50

// Calls implements [Surfaced].
func (p Plan) Calls() bool { return len(p.Functions) > 0 }

// Gone implements [Surfaced].
func (p Plan) Gone() []string { return p.gone }

// GoneFrom implements [Surfaced].
func (p Plan) GoneFrom() string { return p.goneFrom }

// Uses implements [Surfaced].
func (p Plan) Uses(test string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport \"testing\"\n\nfunc %s(*testing.T) {\n", p.clause, test)
	for _, name := range p.gone {
		if p.goneTypes[name] {
			fmt.Fprintf(&b, "\tvar _ %s\n", name)
		} else {
			fmt.Fprintf(&b, "\t_ = %s\n", name)
		}
	}
	return b.String() + "}\n"
}

// surface finds what a side exports that the other does not.
func (p *Plan) surface(was, now *side) {
	p.goneTypes = map[string]bool{}
	if was.clause == "main" {
		return
	}
	for name := range was.types {
		if now.types[name] == "" && ast.IsExported(name) {
			p.gone, p.goneTypes[name] = append(p.gone, name), true
		}
	}
	for name, f := range was.funcs {
		owner := strings.Trim(strings.TrimSuffix(name, "."+f.decl.Name.Name), "(*)")
		if now.funcs[name] == nil && ast.IsExported(f.decl.Name.Name) && ast.IsExported(owner) && !p.goneTypes[owner] && f.decl.Type.TypeParams == nil && !generic(f.decl) {
			p.gone = append(p.gone, name)
		}
	}
	for name := range was.values {
		if now.values[name] == "" && ast.IsExported(name) {
			p.gone = append(p.gone, name)
		}
	}
	slices.Sort(p.gone)
	p.gone = p.gone[:min(len(p.gone), maxGone)]
	for _, name := range p.gone {
		if f := was.funcs[name]; f != nil && now.src[f.file] != nil {
			p.goneFrom = f.file
			return
		}
	}
}

// Hide says that no other module can use the package.
func (p *Plan) Hide() { p.gone = nil }

// Elsewhere takes out of what is gone the names that stand in sources of the head that are
// not compiled here.
func (p *Plan) Elsewhere(sources [][]byte) {
	p.gone = slices.DeleteFunc(p.gone, func(name string) bool {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name[strings.LastIndexByte(name, '.')+1:]) + `\b`)
		return slices.ContainsFunc(sources, word.Match)
	})
}

// Undefined are those of the expressions which a compiler says are not there.
func Undefined(expressions []string, output string) []string {
	var out []string
	for _, e := range expressions {
		name := regexp.QuoteMeta(e[strings.LastIndexByte(e, '.')+1:])
		if regexp.MustCompile(`undefined: ` + name + `\b|\b` + name + ` undefined`).MatchString(output) {
			out = append(out, e)
		}
	}
	return out
}
