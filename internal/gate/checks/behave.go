package checks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/sorted"
)

// A Behaviour is what changed functions return on both sides for the same inputs.
type Behaviour struct {
	Note        string       `json:"note"`    // one sentence for people
	Command     string       `json:"command"` // on the head
	Evidence    []string     `json:"evidence"`
	Functions   int          `json:"functions"`      // that were compared, of those whose body changed
	Callers     int          `json:"callers"`        // that were compared, of those that call what changed
	Inputs      int          `json:"inputs"`         // for which they were
	Worded      []string     `json:"worded"`         // functions that differ in the words of errors alone, or in nothing against what is empty
	LeftOut     []LeftOut    `json:"left_out"`       // functions that were not compared
	Gone        []string     `json:"gone,omitempty"` // what only the base exports
	Differences []Difference `json:"differences"`
}

// A LeftOut is functions that were not compared, for one reason.
type LeftOut struct {
	Why       string   `json:"why"`
	Functions []string `json:"functions"`
}

// A Difference is a function that does something else with the change.
type Difference struct {
	Function  string   `json:"function"`
	Through   string   `json:"through,omitempty"` // the changed function that it calls, where its own body is as it was
	Path      string   `json:"path"`
	Line      int      `json:"line"`
	Inputs    int      `json:"inputs"`    // for which it was called
	Differing int      `json:"differing"` // of these, that differ
	Example   string   `json:"example"`   // the smallest of them, as Go writes the call
	Was       string   `json:"was"`
	Is        string   `json:"is"`
	Test      string   `json:"test"`              // holds what the base does; empty: the input cannot be written
	Unheld    bool     `json:"unheld,omitempty"`  // the test passes on both sides: it cannot hold what differs
	Recorded  string   `json:"recorded"`          // the test of the base while which the input was recorded; empty: it was made
	Gone      bool     `json:"gone,omitempty"`    // it is no function that was called, but what only the base exports
	Symbols   []string `json:"symbols,omitempty"` // where it is gone: the names
	Breaks    bool     `json:"breaks"`            // the base returns for an input of its own tree, and the head does not
	Expected  bool     `json:"expected"`          // tests that fail without the change reach it
	Touched   bool     `json:"touched"`           // tests that the change alters or brings reach it
	Command   string   `json:"command"`
	Evidence  []string `json:"evidence"`
	kind      behave.Kind
}

// Bounds for calls of functions.
const (
	behaviourShare = 8 // of the run's time that is left: an eighth
	recordShare    = 4 // of that
	sideShare      = 5 // of what is left of it then: two fifths for all calls on each side, the rest for those that are made again
	callsCompile   = time.Minute
	callLimit      = 10 * time.Second // a longer one hangs, where it takes hangTimes as long as on the base
	hangTimes      = 100
	maxCompared    = 10 // packages
	maxTries       = 3  // inputs of a function that are called again
)

// Behave calls the functions whose body changed and whose signature did not with the same
// inputs on both sides. It is left out where the change fails anyway, and where commands
// are not kept apart: nothing is known of what a function does with inputs that no one
// chose.
func Behave(ctx context.Context, s *Subject) (Findings, error) {
	r := &check{in: s}
	if !s.Runnable || s.Unprepared || s.Fails || s.Failed || s.BehaviourTime < 0 {
		return r.found, nil
	}
	b := &behaviour{check: r, out: &Behaviour{}, until: s.Now().Add(s.BehaviourTime), test: "Test" + strings.ToUpper(callsName(s.Head.OID)[:1]) + callsName(s.Head.OID)[1:]}
	if deadline, ok := ctx.Deadline(); ok {
		if share := s.Now().Add(deadline.Sub(s.Now()) / behaviourShare); share.Before(b.until) {
			b.until = share
		}
	}
	err := b.packages(ctx)
	b.conclude()
	return r.found, err
}

// callsName is the name of the test that makes the calls: another one for each tree, so
// that it meets no other.
func callsName(oid string) string {
	name := ""
	for _, c := range []byte(oid)[:min(len(oid), 10)] {
		name += string('a' + c%26)
	}
	return name
}

// behaviour is the comparison of one change.
type behaviour struct {
	*check
	out   *Behaviour
	until time.Time
	test  string
	fresh bool // both sides are as they were prepared

	touched []ecosystem.Package // in which files changed
}

// A called is one package whose functions are called.
type called struct {
	pkg      ecosystem.Package // or a project, where calls are planned by file
	files    []string          // that changed in that
	by       *ecosystem.Behaviour
	plan     behave.Planned
	commands map[Side]ecosystem.Command
	evidence []string
	most     time.Duration // for all calls on a side
}

func (b *behaviour) packages(ctx context.Context) error {
	n := 0
	for _, c := range b.places() {
		c, ok, err := b.plan(c)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		switch n++; {
		case !b.in.Apart:
			b.in.NotCoveredOnce("behaviour of changed functions: the sandbox here is too weak to call them with generated inputs")
			return nil
		case n > maxCompared:
			b.in.NotCoveredOnce("behaviour of changed functions: more than %d packages or projects changed", maxCompared)
			return nil
		}
		if err := b.surface(ctx, c); err != nil {
			return err
		}
		if err := b.call(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// places are the packages and the projects in which files changed.
func (b *behaviour) places() []called {
	var out []called
	inside := ecosystem.Touched(b.in.Packages, b.in.Change.Paths())
	for _, p := range b.in.Packages {
		if inside[p.ImportPath] {
			b.touched = append(b.touched, p)
			out = append(out, called{pkg: p, by: languages.Named(p.Eco).Behaviour})
		}
	}
	for _, e := range languages.All() {
		if e.Behaviour == nil || !e.Behaviour.ByFile {
			continue
		}
		files := map[string][]string{} // by the innermost folder in which tests are run
		for _, f := range b.in.Change.Files {
			if f.Status != change.Modified || !e.IsSource(f.Path) || languages.IsTestFile(f.Path) {
				continue
			}
			unit, found := "", false
			for _, c := range b.in.Tests[Head] {
				if c.Eco == e.Name && ecosystem.Inside(c.Unit, f.Path) && (!found || unit == "." || len(c.Unit) > len(unit) && c.Unit != ".") {
					unit, found = c.Unit, true
				}
			}
			if found {
				files[unit] = append(files[unit], f.Path)
			}
		}
		for _, unit := range slices.Sorted(maps.Keys(files)) {
			p := ecosystem.Package{Dir: unit, ImportPath: results.Listed(files[unit], 3), Unit: unit, Eco: e.Name}
			out = append(out, called{pkg: p, files: files[unit], by: e.Behaviour})
		}
	}
	return out
}

// plan is what is called in a place.
func (b *behaviour) plan(c called) (called, bool, error) {
	p := c.pkg
	c.commands = map[Side]ecosystem.Command{}
	if c.by == nil {
		return c, false, nil
	}
	for _, side := range []Side{Base, Head} {
		list := b.in.PackageTests(side, ecosystem.GroupOf(p), StageProbe, ecosystem.AsItIs)
		if len(list) == 0 {
			return c, false, nil
		}
		c.commands[side] = list[0]
	}
	base, err := os.OpenRoot(b.in.Base.Dir)
	if err != nil {
		return c, false, err
	}
	defer base.Close()
	head, err := os.OpenRoot(b.in.Head.Dir)
	if err != nil {
		return c, false, err
	}
	defer head.Close()
	var ok bool
	if c.plan, ok = c.by.Plan(regular.FS(base), regular.FS(head), ecosystem.Calling{Dir: p.Dir, Files: c.files, Command: c.commands[Head], Packages: b.touched}); !ok && c.plan != nil {
		b.uncalled(c.plan)
	}
	return c, ok, nil
}

// uncalled keeps what a plan does not even call.
func (b *behaviour) uncalled(p behave.Planned) {
	for _, f := range p.Compare(nil, nil).Functions {
		b.leftOut(f.Unlike, f.Name)
	}
}

// call compares the functions of a package.
func (b *behaviour) call(ctx context.Context, c called) error {
	if p, ok := c.plan.(behave.Surfaced); ok && !p.Calls() {
		b.uncalled(c.plan)
		return nil
	}
	said := map[Side]behave.Answers{}
	var command string
	if err := b.record(ctx, &c); err != nil {
		return err
	}
	c.most = max(2*b.until.Sub(b.in.Now())/sideShare, time.Second)
	for _, side := range []Side{Base, Head} {
		out, step, err := b.run(ctx, side, &c, "")
		if err != nil || step.Evidence == "" {
			b.late(c, err == nil)
			return err
		}
		if said[side] = behave.All(out); len(said[side]) == 0 {
			b.in.NotCovered("behaviour of what changed in %s: its functions could not be called on %s (%s)", c.pkg.ImportPath, side, cmpFirst(step.Output, "no output"))
			return nil
		}
		command = step.Command
	}
	b.out.Command = cmp.Or(b.out.Command, command)
	b.out.Evidence = append(b.out.Evidence, c.evidence...)
	all := c.plan.Compare(said[Base], said[Head])
	compared := all.Functions
	for _, f := range compared {
		switch {
		case f.Unlike != "":
			b.leftOut(f.Unlike, f.Name)
			continue
		case f.Differing == 0 && f.Worded > 0:
			b.out.Worded = append(b.out.Worded, f.Name)
		}
		if f.Through == "" {
			b.out.Functions++
		} else {
			b.out.Callers++
		}
		b.out.Inputs += f.Inputs
	}
	if all.Left > 0 {
		b.in.NotCovered("behaviour of what changed in %s: %d functions more than the %d that were called", c.pkg.ImportPath, all.Left, behave.MaxFunctions)
	}
	return b.again(ctx, &c, compared)
}

// record runs the tests of the base that reach the functions, which say what they are
// called with. Where that does not work the functions are called with what is made.
func (b *behaviour) record(ctx context.Context, c *called) error {
	plan, ok := c.plan.(behave.Recorder)
	if !ok || c.by.Record == nil {
		return nil
	}
	how := plan.Recording()
	left := b.until.Sub(b.in.Now()) / recordShare
	if len(how.Tests) == 0 || left <= 0 {
		return nil
	}
	texts := map[string]string{c.by.File(b.test): c.plan.File(b.test)}
	maps.Copy(texts, how.Files)
	command := c.by.Record(c.commands[Base], c.pkg.ImportPath, how.Tests)
	command.Stage, command.Timeout = StageProbe, min(left+callsCompile, b.in.StepLimit)
	out, step, err := b.laid(ctx, Base, c, texts, command, b.in.AsLaid)
	b.fresh = false // tests leave what they like
	if err != nil || step.Evidence == "" {
		return err
	}
	c.plan = plan.Recorded(out)
	return nil
}

// late says that there was no time for a package.
func (b *behaviour) late(c called, is bool) {
	if is {
		b.in.NotCoveredOnce("behaviour of what changed in %s: no time is left for it", c.pkg.ImportPath)
	}
}

// leftOut keeps that functions are not compared.
func (b *behaviour) leftOut(why string, names ...string) {
	if len(names) == 0 {
		return
	}
	for i := range b.out.LeftOut {
		if l := &b.out.LeftOut[i]; l.Why == why {
			l.Functions = append(l.Functions, names...)
			return
		}
	}
	b.out.LeftOut = append(b.out.LeftOut, LeftOut{why, names})
}

// run lays the plan's file into a side and makes its calls. No step: there is no time.
func (b *behaviour) run(ctx context.Context, side Side, c *called, which string) (string, Step, error) {
	left := b.until.Sub(b.in.Now())
	if left <= 0 || ctx.Err() != nil {
		return "", Step{}, context.Cause(ctx)
	}
	command := c.by.Calls(c.commands[side], c.pkg.ImportPath, b.test, which)
	if which == "" {
		command.Env = append(slices.Clip(command.Env), behave.TimeVar+"="+c.most.Round(time.Second).String())
	}
	command.Stage, command.Timeout = StageProbe, min(left+callsCompile, b.in.StepLimit)
	return b.laid(ctx, side, c, map[string]string{c.by.File(b.test): c.plan.File(b.test)}, command, b.in.Exec)
}

// runs is how a command runs.
type runs func(context.Context, Side, ecosystem.Command, io.Writer) (Step, error)

// laid runs a command in a side in which files are laid over the folder of a package.
func (b *behaviour) laid(ctx context.Context, side Side, c *called, texts map[string]string, command ecosystem.Command, exec runs) (string, Step, error) {
	if !b.fresh {
		for _, s := range []Side{Base, Head} {
			if err := b.in.Reset(ctx, s); err != nil {
				return "", Step{}, err
			}
		}
		b.fresh = true
	}
	root, err := os.OpenRoot(b.in.tree(side).Dir)
	if err != nil {
		return "", Step{}, err
	}
	defer root.Close()
	for name, text := range texts {
		name = filepath.FromSlash(path.Join(c.pkg.Dir, name))
		before, there := fs.ReadFile(regular.FS(root), name)
		if there != nil && !errors.Is(there, fs.ErrNotExist) { // a pipe would be waited for
			return "", Step{}, fmt.Errorf("calls of %s: %w", c.pkg.ImportPath, there)
		}
		if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
			return "", Step{}, fmt.Errorf("calls of %s: %w", c.pkg.ImportPath, err)
		}
		defer func() {
			err := there
			if err == nil {
				err = root.WriteFile(name, before, 0o644)
			} else {
				err = root.Remove(name)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				b.in.Note("%s: %s could not be put back after calls of functions: %v", side, name, err)
			}
		}()
	}
	var said bytes.Buffer
	step, err := exec(ctx, side, command, &said)
	if err == nil {
		c.evidence = append(c.evidence, step.Evidence)
	}
	return said.String(), step, err
}

// again makes the calls that differ once more, each in processes of its own, and keeps
// what differs there as well.
func (b *behaviour) again(ctx context.Context, c *called, compared []behave.Compared) error {
	tries := map[string][]behave.Candidate{}
	var calls [][2]int
	differs := map[string]bool{} // changed functions that do, or what calls them
	for _, f := range compared {
		if f.Through != "" && differs[f.Through] {
			continue // it has been said
		}
		hangs := 0
		for _, k := range f.Candidates {
			if k.Hangs {
				hangs++
			}
			if k.Kind == behave.Words || k.Hangs && hangs > 1 || len(tries[f.Key]) == maxTries {
				continue
			}
			tries[f.Key] = append(tries[f.Key], k)
			calls = append(calls, [2]int{f.At, k.Index})
			differs[cmp.Or(f.Through, f.Name)] = true
		}
	}
	if len(calls) == 0 {
		return nil
	}
	confirmed := map[string]string{} // why a function shows no difference that it showed at first; empty: it does
	defer func() { b.uncount(compared, tries, confirmed) }()
	before := len(c.evidence)
	was, step, err := b.run(ctx, Base, c, behave.Which(callLimit, calls))
	if err != nil || step.Evidence == "" {
		b.late(*c, err == nil)
		return err
	}
	old := behave.Some(was)
	limit := callLimit
	for _, o := range old {
		limit = max(limit, hangTimes*time.Duration(o.Micros)*time.Microsecond)
	}
	is, step, err := b.run(ctx, Head, c, behave.Which(min(limit, time.Minute), calls))
	if err != nil || step.Evidence == "" {
		b.late(*c, err == nil)
		return err
	}
	now := behave.Some(is)
	for _, f := range compared {
		for _, k := range tries[f.Key] {
			again := func(l []behave.Call) bool {
				return slices.ContainsFunc(l, func(c behave.Call) bool { return c.Name == f.Key && c.Index == k.Index })
			}
			if again(old) && again(now) {
				confirmed[f.Key] = behave.NotSteady
			}
			d, ok := b.difference(c, f, k, old, now)
			if !ok {
				continue
			}
			confirmed[f.Key] = ""
			d.Command, d.Evidence = step.Command, c.evidence[before:]
			b.out.Differences = append(b.out.Differences, d)
			break
		}
	}
	return nil
}

// uncount takes functions off those that were compared which differed and did not so again, or
// were not called again: nothing can be said of them.
func (b *behaviour) uncount(compared []behave.Compared, tries map[string][]behave.Candidate, confirmed map[string]string) {
	said := map[string]bool{}
	for _, f := range compared {
		why, again := confirmed[f.Key]
		if said[f.Name] = again && why == ""; said[f.Name] && f.Through != "" {
			said[f.Through] = true // for others that call it
		}
		switch {
		case f.Unlike != "" || f.Differing == 0 || said[f.Name]:
			continue
		case len(tries[f.Key]) == 0 && said[f.Through]: // its difference is that of what it calls, or of who calls that as well
		case !again:
			b.leftOut(behave.NotAgain, f.Name)
		default:
			b.leftOut(why, f.Name)
		}
		if f.Through == "" {
			b.out.Functions--
		} else {
			b.out.Callers--
		}
		b.out.Inputs -= f.Inputs
	}
}

// difference is what a function does otherwise with an input, where it does so again.
func (b *behaviour) difference(c *called, f behave.Compared, k behave.Candidate, old, now []behave.Call) (Difference, bool) {
	find := func(list []behave.Call) (behave.Call, bool) {
		at := slices.IndexFunc(list, func(c behave.Call) bool { return c.Name == f.Key && c.Index == k.Index })
		if at < 0 {
			return behave.Call{}, false
		}
		return list[at], list[at].Stable
	}
	was, ok1 := find(old)
	is, ok2 := find(now)
	if !ok1 || !ok2 || !was.Returned() || was.Src != is.Src || was.Class == is.Class && was.Text == is.Text {
		return Difference{}, false
	}
	d := Difference{
		Function: f.Name, Path: f.Path, Line: f.Line, Inputs: f.Inputs, Differing: f.Differing, Example: was.Src,
		Was: was.Says(), Is: is.Says(), Test: c.plan.Test(f.Function, was), Recorded: was.Test, kind: k.Kind,
		Touched: len(f.Touched) > 0, Unheld: len(was.Check) > 0 && !was.Held(is.Outcome),
		Through: f.Through,
		Breaks: f.Through == "" && k.Base && !was.Raised && !is.Returned() && !f.Awaited && (!f.Panics || !is.OnPurpose()) &&
			!b.passes(c, f, k, was),
	}
	for _, proven := range b.in.Proven {
		d.Expected = d.Expected || isOne(proven.ID, f.Tested)
	}
	return d, true
}

// passes says whether a test in which an input stands passes with the change, or may: then
// the function returns there, and what the test sets up is what the call lacks.
func (b *behaviour) passes(c *called, f behave.Compared, k behave.Candidate, was behave.Call) bool {
	tests, ok := f.Standing(k, was)
	if !ok {
		return true
	}
	reported := false
	for id, t := range b.in.Suites[Head] {
		if id.Test == "" || id.Unit != c.pkg.Unit || t.Eco != c.pkg.Eco || len(c.files) == 0 && id.Package != c.pkg.ImportPath {
			continue
		}
		if reported = true; t.Status == Passed && isOne(id, tests) {
			return true
		}
	}
	return !reported
}

// isOne says whether a test, or a group that it is of, has one of the names of a source.
func isOne(id ID, names []string) bool {
	if behave.Named(names, id.Top()) {
		return true
	}
	for group := range strings.SplitSeq(id.Test, results.NameSep) {
		if behave.Named(names, group) {
			return true
		}
	}
	return false
}

// conclude ranks the differences and puts them into words, where there is something to say.
func (b *behaviour) conclude() {
	o := b.out
	rank := func(d Difference) int {
		switch {
		case d.Breaks:
			return 0
		case d.Expected:
			return 3
		case d.Touched:
			return 2
		}
		return 1
	}
	sorted.By(o.Differences, func(x, y Difference) int {
		return cmp.Or(rank(x)-rank(y), int(x.kind)-int(y.kind))
	})
	if o.Functions+o.Callers+len(o.Gone) == 0 && (len(o.Evidence) == 0 || len(o.LeftOut) == 0) {
		return
	}
	same, callers := o.Functions, o.Callers
	for _, d := range o.Differences {
		switch {
		case d.Gone:
		case d.Through == "":
			same--
		default:
			callers--
		}
	}
	o.Note = fmt.Sprintf("of %s whose body changed %d %s for %s", results.Count(o.Functions, "function", "functions"),
		same, results.Plural(same, "returns the same", "return the same"), results.Count(o.Inputs, "input", "inputs"))
	if o.Functions == 0 {
		o.Note = "no function whose body changed could be compared"
	}
	if o.Callers > 0 {
		o.Note += fmt.Sprintf("; of %s that call what changed %d %s", results.Count(o.Callers, "function", "functions"), callers, results.Plural(callers, "does", "do"))
	}
	if len(o.Gone) > 0 {
		o.Note += "; gone: " + results.Listed(o.Gone, 5)
	}
	if len(o.Worded) > 0 {
		o.Note += fmt.Sprintf("; other words or nil against empty: %s", results.Listed(o.Worded, 5))
	}
	for _, l := range o.LeftOut {
		o.Note += fmt.Sprintf("; not compared, because %s: %s", l.Why, results.Listed(l.Functions, 5))
	}
	b.found.Behaviour = o
}
