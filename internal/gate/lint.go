package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/preparation"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// lint asks for complaints, which decide nothing, when all that decides has run.
func (r *runner) lint(ctx context.Context) error {
	since, shared := r.Now(), ""
	if r.Sandbox.Status().Tier != sandbox.TierNone { // else the head could have written into the base's tree
		shared = r.Store().ProjectCache()
	}
	for _, side := range []Side{Base, Head} {
		if len(r.sides.Plans[side].Lint) == 0 || r.executor.Prepared(side) == nil || r.prep.Unprepared() != "" {
			continue
		}
		if err := r.executor.Reset(ctx, side); err != nil {
			return err
		}
		for _, c := range r.sides.Plans[side].Lint {
			c = r.tests.Limited(side, c)
			if side == Base {
				c = preparation.Compiling(c, shared)
			}
			if _, err := r.executor.Run(ctx, side, r.executor.Tree(side), c, nil); err != nil {
				return err
			}
		}
		if err := r.prep.LinkSince(since); err != nil {
			return err
		}
	}
	r.compareLint()
	return nil
}

// place is the position in a line of a compiler or linter.
var place = pattern.New(`:\d+(:\d+)?:`)

// HasPlace says whether an output names a place in a file, as complaints do.
func HasPlace(output string) bool { return place.MatchString(output) }

// compareLint keeps the complaints of the head that the base does not have. A linter that
// ends well can complain, too: what it says there is no news on the head.
func (r *runner) compareLint() {
	for _, s := range r.lackingBoth(StageLint) {
		r.lack(StageLint, s.Unit, s.Command, s.Lacks)
	}
	type said struct{ unit, command, text string }
	seen, failed := map[said]int{}, map[said]bool{}
	for _, s := range r.executor.Steps.Of(StageLint, Base) {
		placed, others := complaints(s)
		for _, c := range slices.Concat(placed, others) {
			seen[said{s.Unit, "", place.ReplaceAllString(c, ":")}]++
		}
		failed[said{s.Unit, s.Command, ""}] = s.Failed()
	}
	for _, s := range r.executor.Steps.Of(StageLint, Head) {
		if !s.Failed() {
			continue
		}
		placed, others := complaints(s)
		before := len(r.res.Lint)
		add := func(list []string) {
			for _, c := range list {
				if key := (said{s.Unit, "", place.ReplaceAllString(c, ":")}); seen[key] > 0 {
					seen[key]--
					continue
				}
				r.res.Lint = append(r.res.Lint, Case{ID: ID{Unit: s.Unit, Command: s.Command}, Output: c, Evidence: []string{s.Evidence}})
			}
		}
		add(placed)
		if len(placed) == 0 || len(r.res.Lint) == before && !failed[said{s.Unit, s.Command, ""}] { // it ends badly for what has no place
			add(others)
		}
	}
	for i := range r.executor.Steps {
		if s := &r.executor.Steps[i]; s.Stage == StageLint && !s.Failed() {
			s.Output = ""
		}
	}
}

// How linters name the place of a complaint: before it, in the line below it, or in a line
// below the one that names the file. Messages that only explain another one have places, too.
var (
	placedLine = pattern.New(`^(?:\w+: )?(?:\./)?([^\s:()]*[A-Za-z][^\s:()]*)(?::(\d+(?::\d+)?)(?::|\s+-|$|\s)|\((\d+,\d+)\):)\s*(.*)$`)
	placeBelow = pattern.New(`^\s*--> (?:\./)?([^\s:]+):(\d+:\d+)$`)
	placeOnly  = pattern.New(`^\s+(\d+:\d+)\s+(\S.*)$`)
	fileOnly   = pattern.New(`^(?:\./)?[^\s:]*[./][^\s:]*$`)
	explains   = pattern.New(`^(?:note|help)\b`)
	excerpt    = pattern.New(`^(?:\d+ *)?\||^[~^]+$`)
)

// complaints are what a lint step says of places, each as "path:line:column: message", and
// its other lines, with those that go on.
func complaints(s Step) (placed, others []string) {
	add := func(file, at, message string) {
		if s.Unit != "." {
			file = strings.TrimPrefix(file, s.Unit+"/")
		}
		placed = append(placed, file+":"+strings.ReplaceAll(at, ",", ":")+": "+strings.Join(strings.Fields(message), " "))
	}
	file, message := "", "" // of the places in the lines below
	var on *[]string        // whose last one goes on where a line is indented
	for raw := range strings.Lines(s.Output) {
		raw = strings.TrimRight(raw, " \t\r\n")
		line := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(raw), "vet: "))
		if line == "" || strings.HasPrefix(line, "# ") {
			file, on = "", nil
			continue
		}
		if excerpt.MatchString(line) {
			continue
		}
		unsaid := func() { // what was a line of its own is a part of a complaint
			if on == &others {
				others, on = others[:len(others)-1], nil
			}
		}
		if m := placeBelow.FindStringSubmatch(raw); m != nil {
			unsaid()
			if message != "" && !explains.MatchString(message) {
				add(m[1], m[2], message)
			}
			message = ""
		} else if m := placeOnly.FindStringSubmatch(raw); m != nil && file != "" {
			unsaid()
			add(file, m[1], m[2])
		} else if strings.TrimLeft(raw, " \t") != raw && (on != nil || len(placed) > 0) {
			if on != nil {
				(*on)[len(*on)-1] += "; " + line
			}
		} else if m := placedLine.FindStringSubmatch(line); m != nil {
			add(m[1], m[2]+m[3], m[4])
			file, message, on = "", "", &placed
		} else {
			others = append(others, line)
			file, message, on = "", line, &others
			if fileOnly.MatchString(line) {
				file = strings.TrimPrefix(line, "./")
			}
		}
	}
	return placed, others
}
