package languages

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/workflows"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// given are the calls of a runner of a project's tests that CI systems and settings of the project make in
// its folder, with the variables that these give them and its sources name, or that run them in another
// way than ycbot does. Others say nothing new. left are such calls as cannot be made here, with why.
func given(s *ecosystem.Survey, p ecosystem.Project) (found []ecosystem.Given, left []string) {
	c := calls{s: s, p: p, names: namer{s: s, p: p, known: map[string]naming{}}, ways: newWays(s, p), found: slices.Clone(p.Given)}
	var jobs []workflows.Job
	for _, f := range s.Files {
		if !workflows.Is(f) {
			continue
		}
		for _, j := range workflows.Jobs(f, s.Read(".", f), s.InRepository) {
			jobs = append(jobs, workflows.Varied(j)...)
		}
	}
	if p.Eco.Tasks != nil {
		jobs = append(jobs, p.Eco.Tasks(s, p.Dir)...)
	}
	c.names.learn(jobs)
	for _, j := range jobs {
		c.job(j)
	}
	c.programs()
	for i := range c.found {
		startedAs(&c.found[i].Command, p)
	}
	return c.found, c.left
}

// startedAs lets a call of a project's runner be started by another interpreter, as the project's own is.
func startedAs(c *ecosystem.Command, p ecosystem.Project) {
	at := slices.IndexFunc(p.Test, func(t ecosystem.Command) bool { return t.By != nil && strings.Contains(c.Text, starting(t)) })
	if c.By != nil || at < 0 {
		return
	}
	own, was := p.Test[at], *c
	c.Interpreter = own.Interpreter
	c.By = func(interpreter string) ecosystem.Command {
		by := was
		by.Text = strings.Replace(was.Text, starting(own), starting(own.By(interpreter)), 1)
		by.Argv, by.Interpreter = append(slices.Clone(was.Argv[:len(was.Argv)-1]), by.Text), interpreter
		return by
	}
}

// starting is how a call of a runner of Python's tests starts that, with spaces around.
func starting(c ecosystem.Command) string {
	words := strings.Fields(c.Text)
	to := slices.IndexFunc(words, func(w string) bool { return slices.Contains([]string{"pytest", "unittest", "manage.py"}, w) })
	if to < 0 {
		return ""
	}
	from := to
	for from > 0 && !ecosystem.IsAssignment(words[from-1]) {
		from--
	}
	return " " + strings.Join(words[from:to+1], " ")
}

// calls are found for one project.
type calls struct {
	s     *ecosystem.Survey
	p     ecosystem.Project
	names namer
	ways  ways
	found []ecosystem.Given
	left  []string
}

// job looks at the steps of a job.
func (c *calls) job(j workflows.Job) {
	written := map[string]any{} // by steps before, for those after them
	for _, v := range workflows.AlwaysSet(j.File) {
		written[v[0]] = v[1]
	}
	for _, step := range j.Steps {
		for _, m := range writtenVariable.FindAllStringSubmatch(step.Run, -1) {
			written[m[1]] = m[2]
		}
		if path.Clean(step.Dir) != c.p.Dir {
			continue
		}
		if step.Shell != "" && !strings.HasPrefix(step.Shell, "bash") && step.Shell != "sh" {
			c.otherShell(j, step)
			continue
		}
		c.step(j.File, step, []map[string]any{written, j.Env, step.Env})
	}
}

// step looks at the lines of a step, which has the variables of some sets.
func (c *calls) step(from string, step workflows.Step, sets []map[string]any) {
	all, hidden := variables(sets...), c.hidden(sets)
	for _, line := range commandsOf(strings.ReplaceAll(step.Run, "\\\n", " ")) {
		if m := exportLine.FindStringSubmatch(line); m != nil {
			all = append(all, [2]string{m[1], strings.Trim(m[2], `"'`)})
			continue
		}
		if m := sourceLine.FindStringSubmatch(line); m != nil { // such as .env
			all = append(all, c.assignedIn(path.Join(c.p.Dir, m[1]))...)
			continue
		}
		c.line(from, line, all, hidden)
	}
}

// line looks at a line of a step, by the variables that it has, and those whose value is not known.
func (c *calls) line(from, line string, all [][2]string, hidden []string) {
	call, own := stepCall(line, c.p)
	vars, otherwise := c.names.those(append(slices.Clone(all), own...)), false
	if name := c.file(line); name != "" {
		c.script(from, line, name, vars)
		if len(hidden) > 0 && runsTestsIn(c.p, string(c.s.Read(c.p.Dir, name))) {
			c.leaveHidden(from, line, hidden)
		}
		return
	}
	switch named := c.ways.named(line); {
	case named != "" && (call == "" || c.ways.script(line) != ""):
		call, otherwise = named, true
	case call == "" && len(vars) > 0 && strings.ContainsAny(line, "|&;") && c.ways.whole(line) && !strings.Contains(line, "cd "):
		call = line
	case call != "" && c.ways.script(line) == "":
		otherwise = c.ways.decides(line)
	}
	switch {
	case call == "":
		c.byName(from, line, vars)
		c.unread(from, line)
		return
	case len(hidden) > 0:
		c.leaveHidden(from, line, hidden)
	}
	if len(vars) == 0 && !otherwise {
		return
	}
	c.add(from, withVariables(vars, call), vars, otherwise)
}

// withVariables is a call that has variables, also where it is several.
func withVariables(vars [][2]string, call string) string {
	set := ecosystem.Assignments(vars)
	if set != "" && strings.ContainsAny(call, "|&;") {
		return "export " + set + "; " + call
	}
	return strings.TrimSpace(set + " " + call)
}

// add adds a call once.
func (c *calls) add(from, text string, vars [][2]string, otherwise bool) {
	if slices.ContainsFunc(c.found, func(o ecosystem.Given) bool { return o.Text == text }) {
		return
	}
	if len(c.found) >= maxGiven {
		c.leave("what its tests do as %s calls them otherwise, as there are more than %d such calls: %q", from, maxGiven, text)
		return
	}
	g := ecosystem.Given{From: from, Command: ecosystem.Command{Stage: results.StageTest, Unit: c.p.Dir, Text: text, Eco: c.p.Eco.Name}.InShell(), InTests: otherwise}
	if strings.Contains(text, "|") { // what tests come to would be lost in a pipe
		g.Argv = slices.Insert(g.Argv, 1, "-o", "pipefail")
	}
	for _, v := range vars {
		g.Variables = append(g.Variables, v[0])
		g.InTests = g.InTests || c.names.known[v[0]] == byTests
	}
	c.found = append(c.found, g)
}

// leave names what is not run, once.
func (c *calls) leave(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(c.left, text) || len(c.left) > maxLeft:
	case len(c.left) == maxLeft:
		c.left = append(c.left, "what its tests do by other such calls of CI")
	default:
		c.left = append(c.left, text)
	}
}

// leaveHidden names a line that has variables whose value is not known.
func (c *calls) leaveHidden(from, line string, hidden []string) {
	c.leave("what its tests do by %s, which %s sets by an expression, for %q", results.Listed(hidden, 3), from, line)
}

// unread names a line that runs tests of the project with what cannot be known of it.
func (c *calls) unread(from, line string) {
	plain := workflowExpression.ReplaceAllString(line, "X")
	if !runsTests.MatchString(plain) || !ofRunner(c.p, plain) {
		return
	}
	if chosenExpression.MatchString(line) || plain == line && strings.Contains(line, "$") && c.ways.decides(line) {
		c.leave("what its tests do as %s calls them, by what is not known here: %q", from, short(line))
	}
}

// otherShell names a step of another shell that runs tests in another way.
func (c *calls) otherShell(j workflows.Job, step workflows.Step) {
	plain := inWords.ReplaceAllString(step.Run, " ")
	if !runsTests.MatchString(plain) || !ofRunner(c.p, plain) {
		return
	}
	scripted := !strings.HasPrefix(step.Shell, "pwsh") && !strings.HasPrefix(step.Shell, "powershell") && step.Shell != "cmd" // it may do anything
	if scripted || len(c.names.those(variables(j.Env, step.Env))) > 0 || strings.Contains(plain, "$env:") {
		c.leave("what its tests do in a step of %s, whose shell is %s", j.File, step.Shell)
	}
}

// ofRunner says whether a text has a word that is a program of the project's language.
func ofRunner(p ecosystem.Project, text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		w = path.Base(strings.Trim(w, `"'`))
		return slices.Contains(p.Eco.Programs, w) || slices.Contains(p.Eco.Runners, w)
	})
}

// hidden are the variables of some sets that files of tests name, and whose value is an expression
// that chooses how tests run.
func (c *calls) hidden(sets []map[string]any) []string {
	var out []string
	for _, set := range sets {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			if !chosenExpression.MatchString(fmt.Sprint(set[name])) || !variableName.MatchString(name) {
				continue
			}
			if len(c.names.those([][2]string{{name, ""}})) > 0 && c.names.known[name] == byTests && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// assignedIn are the variables of a file of assignments alone.
func (c *calls) assignedIn(name string) [][2]string {
	var out [][2]string
	for line := range strings.Lines(string(c.s.Read(".", name))) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		m := assignmentLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			out = append(out, [2]string{m[1], strings.Trim(m[2], `"'`)})
		case line != "" && !strings.HasPrefix(line, "#"):
			return nil
		}
	}
	return out
}

var (
	sourceLine     = pattern.New(`^(?:\.|source)[ \t]+["']?(?:\./)?([\w./-]+)["']?$`)
	assignmentLine = pattern.New(`^([A-Za-z_]\w*)=([^$` + "`" + `;&|]*)$`)
	// workflowExpression is one of GitHub Actions or CircleCI; one that chooses is of what a project sets.
	workflowExpression = pattern.New(`\$\{\{.*?\}\}|<<.*?>>`)
	chosenExpression   = pattern.New(`\$\{\{[^}]*\b(?:matrix|inputs|env|vars|needs|steps)\.|<<\s*(?:parameters|matrix)\.`)
	// inWords are the quotes and commas around words in a program.
	inWords = pattern.New(`["',\[\]()]+\s*`)
)

// commandsOf are the lines of a step, and of one with several commands these; those behind a
// command that changes the folder are left together with it.
func commandsOf(run string) []string {
	var out []string
	for line := range strings.Lines(run) {
		line = strings.TrimSpace(line)
		if parts := strings.Split(line, "&&"); len(parts) > 1 && !strings.ContainsAny(line, "|;(\"'`") && !strings.Contains(line, "cd ") {
			for _, p := range parts {
				out = append(out, strings.TrimSpace(p))
			}
			continue
		}
		out = append(out, line)
	}
	return out
}

// exportLine is a line of a step that sets a variable for those after it.
var exportLine = pattern.New(`^export[ \t]+([A-Za-z_]\w*)=([^$` + "`" + `;&|]*)$`)

// maxGiven bounds how many calls with other variables are known of, and maxLeft how many are named that
// cannot be made.
const (
	maxGiven = 40
	maxLeft  = 12
)

// alwaysSet is set for all commands.
var alwaysSet = [2]string{"CI", "true"}

// writtenVariable is a variable that a step writes for those after it.
var writtenVariable = pattern.New(`(?m)\becho\s+["']?(\w+)=([^"'$\n]*?)["']?\s*>>\s*["']?\$\{?GITHUB_ENV\b`)

// variables are those of several sets that have a plain value, later sets above the ones before,
// in the order of their names.
func variables(sets ...map[string]any) [][2]string {
	all := map[string]any{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	var out [][2]string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if value, ok := workflows.Plain(all[name]); ok && variableName.MatchString(name) {
			out = append(out, [2]string{name, value})
		}
	}
	return out
}

var variableName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// stepCall is a line of a step that is one call of a runner of a project's tests, without the
// variables that it sets itself, and these; empty: it is none.
func stepCall(line string, p ecosystem.Project) (call string, own [][2]string) {
	if !runsTests.MatchString(line) || strings.Contains(line, "${{") {
		return "", nil
	}
	file, err := shelltext.Parse(line)
	if err != nil || len(file.Stmts) != 1 {
		return "", nil
	}
	c, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return "", nil
	}
	for _, a := range c.Assigns {
		name, value, _ := strings.Cut(ecosystem.Printed(&syntax.CallExpr{Assigns: []*syntax.Assign{a}}), "=")
		if strings.ContainsAny(value, "$`") {
			return "", nil
		}
		own = append(own, [2]string{name, strings.Trim(value, `"'`)})
	}
	words := ecosystem.Written(&syntax.CallExpr{Args: c.Args})
	text := strings.Join(words, " ")
	if program := path.Base(words[0]); text != p.Target && !slices.Contains(p.Eco.Programs, program) && !slices.Contains(p.Eco.Runners, program) {
		return "", nil
	}
	return strings.Join(asHere(words, p), " "), own
}

// asHere is a call of a runner of Python's tests as the project's own are called here: by what
// its environment has, which actions/setup-python and pip make in another way there.
func asHere(words []string, p ecosystem.Project) []string {
	for _, t := range p.Test {
		here := strings.Fields(t.Text)
		for _, runner := range []string{"pytest", "unittest"} {
			from, to := slices.Index(words, runner), slices.Index(here, runner)
			if from >= 0 && to >= 0 && !slices.ContainsFunc(words[:from], func(w string) bool { return strings.HasPrefix(w, "-") && w != "-m" }) {
				return append(slices.Clone(here[:to]), words[from:]...)
			}
		}
	}
	return words
}
