package checks

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/cmdline"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Programs is what the project's programs do on both sides: for command lines, and, those
// that are servers, for requests.
type Programs struct {
	Note        string           `json:"note"`    // one sentence for people
	Command     string           `json:"command"` // on the head
	Evidence    []string         `json:"evidence"`
	Programs    []string         `json:"programs"` // that were compared
	Lines       int              `json:"lines"`    // command lines that were compared
	Requests    int              `json:"requests"` // requests to servers that were compared
	Gained      []string         `json:"gained"`   // command lines whose help has more lines, and all that it had
	LeftOut     []LeftOut        `json:"left_out"` // command lines that were not compared
	Differences []LineDifference `json:"differences"`
}

// A LineDifference is a command line, or a request to what one starts, for which a program
// does something else with the change.
type LineDifference struct {
	Line     string   `json:"line"`    // as it is typed; "GET / to " before it for a request
	Request  bool     `json:"request"` // Line is one
	Path     string   `json:"path"`    // where it stands in the base's tree; empty: nowhere, or the head has no such file
	At       int      `json:"at"`      // on the head; 0: it does not stand there
	Was      string   `json:"was"`
	Is       string   `json:"is"`
	Breaks   bool     `json:"breaks"`   // it stands in the base's tree and ends well there, and crashes or hangs on the head
	Expected bool     `json:"expected"` // the change alters what stands around it
	Command  string   `json:"command"`
	Evidence []string `json:"evidence"`
}

// Bounds for command lines of programs.
const (
	maxPrograms  = 5
	maxLines     = 20              // of a program
	lineLimit    = 5 * time.Second // on the base; a longer one is no quick command
	lineRuns     = 3               // of each side, where the first ones differ
	longestHang  = time.Minute
	maxProgram   = 256 << 20 // bytes
	maxShownLine = 160       // runes
)

// Use runs command lines that stand in the base's tree on both sides, those of programs
// that are built from what changed. It is left out where the change fails anyway, and
// where commands are not kept apart.
func Use(ctx context.Context, s *Subject) (Findings, error) {
	r := &check{in: s}
	if !s.Runnable || s.Unprepared || s.Fails || s.Failed || s.BehaviourTime < 0 {
		return r.found, nil
	}
	u := &use{check: r, out: &Programs{}, until: s.Now().Add(s.BehaviourTime), there: map[Side]map[string]bool{}, servers: map[string]int{}}
	if deadline, ok := ctx.Deadline(); ok {
		if share := s.Now().Add(deadline.Sub(s.Now()) / behaviourShare); share.Before(u.until) {
			u.until = share
		}
	}
	err := u.programs(ctx)
	u.conclude()
	return r.found, err
}

// use is the comparison of one change.
type use struct {
	*check
	out   *Programs
	until time.Time
	there map[Side]map[string]bool // files of a side before a command line ran

	servers          map[string]int // command lines that were tried as those of a server, by the name of the program
	asked, otherwise int            // requests that were compared, and of them those answered otherwise
}

// A provided is a program of both sides.
type provided struct {
	sides map[Side]ecosystem.Program
	made  map[Side][]byte // what Make made
}

func (u *use) programs(ctx context.Context) error {
	list, err := u.provided()
	if err != nil || len(list) == 0 {
		return err
	}
	if !u.in.Apart {
		u.in.NotCoveredOnce("command lines of programs: the sandbox here is too weak to run them")
		return nil
	}
	if len(list) > maxPrograms {
		u.in.NotCoveredOnce("command lines of programs: %d programs more than the %d that were run", len(list)-maxPrograms, maxPrograms)
		list = list[:maxPrograms]
	}
	lines := u.linesOf(list)
	for i, p := range list {
		ok, err := u.prepare(ctx, p)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		u.out.Programs = append(u.out.Programs, p.sides[Base].Name)
		for n, l := range lines[i] {
			done, err := u.compare(ctx, p, l)
			if err != nil {
				return err
			}
			if !done {
				u.in.NotCoveredOnce("command lines of %s: no time is left for %s", p.sides[Base].Name, results.Count(len(lines[i])-n, "one", "of them"))
				break
			}
		}
	}
	return nil
}

// provided are the programs of both sides that are built from what changed.
func (u *use) provided() ([]provided, error) {
	all := map[Side][]ecosystem.Program{}
	for _, side := range []Side{Base, Head} {
		root, err := os.OpenRoot(u.in.tree(side).Dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		all[side] = languages.Provided(regular.FS(root), u.in.Files[side], u.in.Packages)
	}
	var out []provided
	for _, b := range all[Base] {
		at := slices.IndexFunc(all[Head], func(h ecosystem.Program) bool { return h.Name == b.Name && h.Eco == b.Eco })
		if at >= 0 && u.affects(b) {
			out = append(out, provided{map[Side]ecosystem.Program{Base: b, Head: all[Head][at]}, map[Side][]byte{}})
		}
	}
	return out, nil
}

// affects says whether a program is built from what changed.
func (u *use) affects(p ecosystem.Program) bool {
	eco := languages.Named(p.Eco)
	return (p.Package == "" || u.in.Affected[p.Package]) && slices.ContainsFunc(u.in.Change.Paths(), func(name string) bool {
		switch {
		case languages.IsTestFile(name):
			return false
		case p.Package != "":
			return true
		}
		return ecosystem.Inside(p.Dir, name) && (eco.IsSource(name) || eco.Steers != nil && eco.Steers(name))
	})
}

// prepare makes a program on both sides, and keeps it: what a command line leaves is gone
// before the next one.
func (u *use) prepare(ctx context.Context, p provided) (bool, error) {
	for _, side := range []Side{Base, Head} {
		by := p.sides[side]
		if u.there[side] == nil {
			if err := u.in.Reset(ctx, side); err != nil {
				return false, err
			}
			u.there[side] = u.written(side, nil)
		}
		if by.Make == "" {
			continue
		}
		left := u.until.Sub(u.in.Now())
		if left <= 0 {
			u.in.NotCoveredOnce("command lines of %s: no time is left for them", by.Name)
			return false, nil
		}
		script := "export PROGRAM=\"$HOME\"/" + laid(by) + " && mkdir -p \"$HOME\"/" + filepath.Dir(laid(by)) + " && " + by.Make
		c := ecosystem.Command{
			Stage: StageProbe, Unit: ".", Eco: by.Eco, Text: script, Env: u.env(side, by),
			Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Timeout: min(left+callsCompile, u.in.StepLimit),
		}
		if err := u.in.Reset(ctx, side); err != nil {
			return false, err
		}
		step, err := u.in.Exec(ctx, side, c, nil)
		if err != nil {
			return false, err
		}
		if !step.Failed() {
			p.made[side], err = u.take(side, by)
		}
		if step.Failed() || err != nil {
			u.in.NotCovered("command lines of %s: it could not be made on %s (%s)", by.Name, side, cmpFirst(step.Output, fmt.Sprint(err)))
			return false, nil
		}
	}
	return true, nil
}

// env is what a program of packages is compiled with.
func (u *use) env(side Side, p ecosystem.Program) []string {
	for _, pkg := range u.in.Packages {
		if p.Package == "" || pkg.ImportPath != p.Package {
			continue
		}
		if list := u.in.PackageTests(side, ecosystem.GroupOf(pkg), StageProbe, ecosystem.AsItIs); len(list) > 0 {
			return list[0].Env
		}
	}
	return nil
}

// laid is where a program that was made lies in HOME.
func laid(p ecosystem.Program) string { return filepath.Join(".programs", filepath.Base(p.Name)) }

// take reads a program that was made; HOME is in the hands of what ran.
func (u *use) take(side Side, p ecosystem.Program) ([]byte, error) {
	home, err := os.OpenRoot(u.in.Home(side))
	if err != nil {
		return nil, err
	}
	defer home.Close()
	info, err := home.Stat(laid(p))
	if err == nil && (info.Size() > maxProgram || !info.Mode().IsRegular()) {
		err = fmt.Errorf("it has %d bytes", info.Size())
	}
	if err != nil {
		return nil, err
	}
	return home.ReadFile(laid(p))
}

// A run is what one run of a command line did.
type run struct {
	exit            int
	late            bool // it did not end in its time
	out, err, wrote string
	crashed         bool
	took            time.Duration
	step            Step
}

func (r run) same(o run) bool {
	return r.exit == o.exit && r.late == o.late && r.out == o.out && r.err == o.err && r.wrote == o.wrote
}

// run runs a command line on a side as it was prepared.
func (u *use) run(ctx context.Context, side Side, p provided, l line, limit time.Duration) (run, error) {
	script, text, err := u.started(ctx, side, p, l)
	if err != nil {
		return run{}, err
	}
	by := p.sides[side]
	clean := u.clean(side)
	stdout, stderr := cmdline.Stream{Clean: clean.Replace}, cmdline.Stream{Clean: clean.Replace}
	step, err := u.in.Exec(ctx, side, ecosystem.Command{
		Stage: StageProbe, Unit: l.dir, Eco: by.Eco, Text: text, Argv: []string{"bash", "--noprofile", "--norc", "-c", script},
		Env: plainEnv(), Timeout: limit, Stderr: &stderr,
	}, &stdout)
	if err != nil {
		return run{}, err
	}
	out := run{
		exit: step.Exit, late: step.TimedOut, took: step.Duration, step: step,
		out: stdout.String(), err: stderr.String(),
	}
	out.crashed = !out.late && (signalled(out.exit) || by.Crashed(out.exit, out.err))
	var wrote []string
	for name := range u.written(side, u.there[side]) {
		wrote = append(wrote, name+"\n")
	}
	slices.Sort(wrote)
	out.wrote = strings.Join(wrote, "")
	return out, nil
}

// started are a script that starts a program with the arguments of a line on a side, which
// has been brought back to what was prepared, and how a person types it.
func (u *use) started(ctx context.Context, side Side, p provided, l line) (script, text string, err error) {
	if err := u.in.Reset(ctx, side); err != nil {
		return "", "", err
	}
	by := p.sides[side]
	args := ""
	if len(l.args) > 0 {
		args = " " + ecosystem.ShellWords(ecosystem.Command{Argv: l.args})
	}
	up := "."
	if l.dir != "." {
		up = path.Clean(strings.Repeat("../", strings.Count(l.dir, "/")+1))
	}
	text = by.Start(up) + args
	if by.Make == "" {
		return "exec env " + text, text, nil
	}
	return "exec \"$HOME\"/" + laid(by) + args, text, u.lay(side, by, p.made[side])
}

// plainEnv is what is set for runs of programs on both sides.
func plainEnv() []string {
	return []string{"TZ=UTC", "LC_ALL=C.UTF-8", "LANG=C.UTF-8", "COLUMNS=80", "TERM=dumb", "PYTHONDONTWRITEBYTECODE=1"}
}

// clean takes what differs between sides by its place alone from what a program says.
func (u *use) clean(side Side) *strings.Replacer {
	return strings.NewReplacer(u.in.Home(side), "$HOME", u.in.tree(side).Dir, "$TREE")
}

// signalled says whether an exit code is that of a signal by which programs crash.
func signalled(exit int) bool { return slices.Contains([]int{132, 134, 135, 136, 139}, exit) }

// lay puts a program that was made where it was made.
func (u *use) lay(side Side, p ecosystem.Program, data []byte) error {
	home, err := os.OpenRoot(u.in.Home(side))
	if err != nil {
		return err
	}
	defer home.Close()
	if err := home.MkdirAll(filepath.Dir(laid(p)), 0o755); err != nil {
		return fmt.Errorf("program %s: %w", p.Name, err)
	}
	if err := home.WriteFile(laid(p), data, 0o755); err != nil {
		return fmt.Errorf("program %s: %w", p.Name, err)
	}
	return nil
}

// conclude ranks the differences and puts them into words, where there is something to say.
func (u *use) conclude() {
	o := u.out
	rank := func(d LineDifference) int {
		switch {
		case d.Breaks:
			return 0
		case d.Expected:
			return 2
		}
		return 1
	}
	sorted.By(o.Differences, func(x, y LineDifference) int { return cmp.Compare(rank(x), rank(y)) })
	if len(o.Programs) == 0 || o.Lines == 0 && len(o.Evidence) == 0 {
		return
	}
	names := results.Listed(o.Programs, maxPrograms)
	var notes []string
	if o.Lines > 0 {
		same := o.Lines - len(o.Differences) + u.otherwise
		notes = append(notes, fmt.Sprintf("of %s of %s %d %s", results.Count(o.Lines, "command line", "command lines"), names, same, results.Plural(same, "behaves the same", "behave the same")))
	}
	if u.asked > 0 {
		same := u.asked - u.otherwise
		notes = append(notes, fmt.Sprintf("of %s to %s %d %s", results.Count(u.asked, "request", "requests"), names, same, results.Plural(same, "is answered the same", "are answered the same")))
	}
	if len(notes) == 0 {
		notes = []string{"no command line of " + names + " could be compared"}
	}
	o.Note = strings.Join(notes, "; ")
	if len(o.Gained) > 0 {
		o.Note += "; more lines of help: " + results.Listed(o.Gained, 3)
	}
	for _, l := range o.LeftOut {
		one, many := "command line", "command lines"
		if l.Why == unanswered || l.Why == varying {
			one, many = "request", "requests"
		}
		o.Note += fmt.Sprintf("; not compared, because %s: %s", l.Why, results.Count(len(l.Functions), one, many))
	}
	o.Requests = u.asked
	u.found.Programs = o
}
