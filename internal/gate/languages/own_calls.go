package languages

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/workflows"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// An OwnCall is a call of a runner of tests in the texts by which a project tests itself, which
// selects tests by what it names.
type OwnCall struct {
	Text     string   // as it is written
	Places   []string // files and folders of the repository that it names
	Pattern  string   // of base names of files, of discovery by unittest; empty: it has none
	Workflow bool     // it stands in a workflow, and not in the target for tests of the project's folder
}

// OwnCalls are those of a project: in the target for tests of its folder, and in workflows.
func OwnCalls(s *ecosystem.Survey, p ecosystem.Project) []OwnCall {
	left := maxScriptCalls
	c := caller{s: s, dir: p.Dir, scripts: scriptsOf(s, p.Dir), left: &left}
	if file := native.FileOfTargets(s, p.Dir); file != "" {
		text := string(native.Targets(s, p.Dir, file))
		text = expanded(text, text)
		c.in(ecosystem.TestRecipes(file, text), 0)
	}
	own := len(c.found)
	for _, f := range s.Files {
		if workflows.Is(f) {
			for _, j := range workflows.Jobs(f, s.Read(".", f), s.InRepository) {
				for _, step := range j.Steps {
					c.in(step.Run, 0)
				}
			}
		}
	}
	for i := own; i < len(c.found); i++ {
		c.found[i].Workflow = true
	}
	return c.found
}

var (
	makeVariable = pattern.New(`(?m)^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*([:?+]{0,3})=[ \t]*(.*)$`)
	makeUse      = pattern.New(`\$[({](\w+)[)}]`)
)

// Bounds of what variables of a Makefile come to, in bytes: by lines that add to one, and in the
// recipes.
const (
	maxAdded    = 4 << 20
	maxExpanded = 512 << 10
)

// expanded is a recipe with what variables of its Makefile are set to as they are written, as far
// as that has a size that can be read.
func expanded(makefile, recipe string) string {
	values := map[string]string{}
	added, left := 0, maxExpanded
	for _, m := range makeVariable.FindAllStringSubmatch(makefile, -1) {
		if m[2] == "+" {
			if added += len(values[m[1]]); added > maxAdded {
				continue
			}
			m[3] = strings.TrimSpace(values[m[1]] + " " + m[3])
		}
		values[m[1]] = m[3]
	}
	for range maxScriptDepth { // values have variables as well
		recipe = makeUse.ReplaceAllStringFunc(recipe, func(use string) string {
			v, ok := values[use[2:len(use)-1]]
			if !ok || len(v) > left {
				return use
			}
			left -= len(v)
			return v
		})
	}
	return recipe
}

func scriptsOf(s *ecosystem.Survey, dir string) map[string]string {
	var m struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(s.Read(dir, "package.json"), &m) != nil {
		return nil
	}
	return m.Scripts
}

// A caller looks for calls in the folder of a project.
type caller struct {
	s       *ecosystem.Survey
	dir     string
	scripts map[string]string // of package.json
	left    *int              // scripts that may still be followed
	found   []OwnCall
}

// How far scripts that call each other are followed, and how many calls of them in all.
const (
	maxScriptDepth = 3
	maxScriptCalls = 200
)

// in looks for calls in the lines of a text. What is no shell has none.
func (c *caller) in(text string, depth int) {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "@+- \t")
		file, err := shelltext.Parse(line)
		if err != nil {
			continue
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				c.call(ecosystem.Written(call), depth)
			}
			return true
		})
	}
}

func (c *caller) call(words []string, depth int) {
	if name := c.script(words); name != "" && depth < maxScriptDepth && *c.left > 0 {
		*c.left--
		in := caller{s: c.s, dir: c.dir, scripts: c.scripts, left: c.left}
		in.in(c.scripts[name], depth+1)
		for _, o := range in.found {
			o.Text = strings.Join(words, " ")
			c.add(o)
		}
		return
	}
	text := strings.Join(words, " ")
	if !runsTests.MatchString(text) || path.Base(words[0]) == "make" { // which says nothing of files
		return
	}
	out := OwnCall{Text: text}
	unittest := slices.Contains(words, "unittest")
	for i, w := range words {
		if i == 0 {
			continue
		}
		w = strings.Trim(w, `"'`)
		value, isPattern := strings.CutPrefix(w, "--pattern=")
		if unittest && words[i-1] == "-p" {
			value, isPattern = w, true
		}
		if isPattern {
			out.Pattern = value
			continue
		}
		place := path.Join(c.dir, w)
		if strings.HasPrefix(w, "-") || slices.Contains(valued, words[i-1]) || place == c.dir || place == "." {
			continue
		}
		if c.s.Has(".", place) || slices.ContainsFunc(c.s.Files, func(f string) bool { return strings.HasPrefix(f, place+"/") }) {
			out.Places = append(out.Places, place)
		}
	}
	if len(out.Places) > 0 || out.Pattern != "" {
		c.add(out)
	}
}

// add adds a call once.
func (c *caller) add(o OwnCall) {
	if !slices.ContainsFunc(c.found, func(was OwnCall) bool { return was.Text == o.Text }) {
		c.found = append(c.found, o)
	}
}

// valued are options of runners whose value may be the name of a file or folder that is no test.
var valued = strings.Fields("-c -k -m -o -p -n -W -t -r -R -u -e")

// script is the script of package.json that a call runs; empty: none.
func (c *caller) script(words []string) string {
	if len(words) < 2 || !slices.Contains([]string{"npm", "yarn", "pnpm", "bun"}, words[0]) {
		return ""
	}
	words = words[1:]
	if words[0] == "run" || words[0] == "run-script" {
		words = words[1:]
	}
	if len(words) > 0 && c.scripts[words[0]] != "" {
		return words[0]
	}
	return ""
}
