package checks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/cmdline"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/regular"
)

// compare runs a command line on both sides, again where they differ; false where there
// is no time.
func (u *use) compare(ctx context.Context, p provided, l line) (bool, error) {
	runs := map[Side][]run{}
	var evidence []string
	for n := range lineRuns {
		for _, side := range []Side{Base, Head} {
			if u.until.Sub(u.in.Now()) <= 0 || ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			got, err := u.run(ctx, side, p, l, u.limit(side, n, runs))
			if err != nil {
				return false, err
			}
			runs[side] = append(runs[side], got)
			evidence = append(evidence, got.step.Evidence)
			if got.step.Limited() { // what it would have come to is not known
				u.leave(limited, l.text)
				return true, nil
			}
			if side == Base && got.late {
				if name := p.sides[Base].Name; u.servers[name] < maxServers && (len(l.args) == 0 || !helps(l.args)) {
					u.servers[name]++
					return u.serve(ctx, p, l)
				}
				u.leave(slow, l.text)
				return true, nil
			}
		}
		base, head := runs[Base], runs[Head]
		u.out.Command = head[n].step.Command
		if n == 0 {
			u.out.Evidence = append(u.out.Evidence, evidence...)
		}
		if n == 0 && base[0].same(head[0]) {
			u.out.Lines++
			return true, nil
		}
		if n > 0 && base[n].exit == 0 && (head[0].late && head[n].late || head[0].crashed && head[n].crashed) {
			break // a third run would show no more
		}
	}
	u.judge(l, runs, evidence)
	return true, nil
}

// limit is how long a run may take: what hangs on the head has to do so for hangTimes as
// long as the base takes, where that can be waited for.
func (u *use) limit(side Side, n int, runs map[Side][]run) time.Duration {
	switch {
	case side == Base:
		return lineLimit
	case n == 0:
		return callLimit
	}
	return min(max(callLimit, hangTimes*runs[Base][0].took), longestHang)
}

// judge says what a command line does otherwise, where its runs agree about that.
func (u *use) judge(l line, runs map[Side][]run, evidence []string) {
	base, head := runs[Base], runs[Head]
	agree := func(list []run) bool {
		return !slices.ContainsFunc(list, func(r run) bool {
			return r.exit != list[0].exit || r.late != list[0].late || r.crashed != list[0].crashed
		})
	}
	if !agree(base) || !agree(head) {
		u.leave(unsteady, l.text)
		return
	}
	d := LineDifference{Line: l.text, Command: head[0].step.Command, Evidence: evidence}
	stands, touched := u.stands(l, &d)
	d.Expected = touched
	switch b, h := base[0], head[0]; {
	case h.late:
		d.Was, d.Is = ends(b), "does not end"
		long := u.limit(Head, 1, runs)
		d.Breaks = b.exit == 0 && long >= hangTimes*b.took
		if long < hangTimes*b.took {
			d.Is += " in its time"
		}
	case h.crashed && !b.crashed:
		d.Was, d.Is = ends(b), "crashes: "+shown(results.FailureLine(h.err))
		d.Breaks = b.exit == 0
	case h.exit != b.exit:
		d.Was, d.Is = ends(b), ends(h)
	default:
		differs, ok := u.differing(l, base, head, &d)
		if !ok {
			u.leave(unsteady, l.text)
			return
		}
		if !differs {
			u.out.Lines++
			return
		}
	}
	d.Breaks = d.Breaks && stands && !touched
	u.out.Lines++
	u.out.Differences = append(u.out.Differences, d)
}

// differing finds the first stream in which the sides differ; not ok where one differs
// from itself in more than can be masked.
func (u *use) differing(l line, base, head []run, d *LineDifference) (differs, ok bool) {
	for _, stream := range []struct {
		of    func(run) string
		what  string
		helps bool
	}{
		{func(r run) string { return r.out }, "prints %s", true},
		{func(r run) string { return r.err }, "prints %s to standard error", true},
		{func(r run) string { return r.wrote }, "writes %s", false},
	} {
		b, ok1 := cmdline.Read(of(base, stream.of)...)
		h, ok2 := cmdline.Read(of(head, stream.of)...)
		if !ok1 || !ok2 {
			return false, false
		}
		was, is, other := b.Differs(h)
		switch {
		case !other:
		case stream.helps && helps(l.args) && b.Gains(h):
			if !slices.Contains(u.out.Gained, l.text) {
				u.out.Gained = append(u.out.Gained, l.text)
			}
		default:
			d.Was, d.Is = says(stream.what, was), says(stream.what, is)
			return true, true
		}
	}
	return false, true
}

func of(runs []run, stream func(run) string) []string {
	var out []string
	for _, r := range runs {
		out = append(out, stream(r))
	}
	return out
}

// helps says whether arguments ask for help, as none may do.
func helps(args []string) bool {
	return len(args) == 0 || slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" || a == "-help" || a == "help" })
}

func says(what, text string) string {
	if text == "" {
		return fmt.Sprintf(what, "no such line")
	}
	return fmt.Sprintf(what, fmt.Sprintf("%q", shown(text)))
}

// ends is how a run ended.
func ends(r run) string {
	if r.exit == 0 {
		return "exits with 0"
	}
	return fmt.Sprintf("exits with %d: %s", r.exit, shown(results.FailureLine(results.JoinOutput(r.out, r.err))))
}

func shown(text string) string {
	r := []rune(text)
	if len(r) <= maxShownLine {
		return text
	}
	return string(r[:maxShownLine]) + "…"
}

// Lines around a command line that say what it does.
const (
	linesBefore = 3
	linesBehind = 15
)

// stands says whether a command line still stands where it did, and whether the change
// alters what is around it: in a test or its data, anything. It keeps where that is on the head.
func (u *use) stands(l line, d *LineDifference) (stands, touched bool) {
	if l.path == "" {
		return false, false
	}
	was, err := ecosystem.ReadInTree(u.in.Base.Dir, l.path)
	if err != nil {
		return false, false
	}
	is, err := ecosystem.ReadInTree(u.in.Head.Dir, l.path)
	if err != nil {
		return false, true // it is not there any more
	}
	d.Path = l.path
	lines := bytes.Split(was, []byte("\n"))
	if l.at <= len(lines) {
		d.At = nearest(bytes.Split(is, []byte("\n")), bytes.TrimSpace(lines[l.at-1]), l.at)
		stands = d.At > 0
	}
	if languages.IsTestFile(l.path) || bytes.Equal(was, is) {
		return stands, !bytes.Equal(was, is)
	}
	around := bytes.Join(lines[max(0, l.at-1-linesBefore):min(len(lines), l.at+linesBehind)], []byte("\n"))
	return stands, !bytes.Contains(is, around)
}

// nearest is the line with a text that is nearest to a place; 0: there is none.
func nearest(lines [][]byte, text []byte, at int) int {
	best := 0
	for i, line := range lines {
		if far := func(n int) int { return max(n-at, at-n) }; bytes.Contains(line, text) && (best == 0 || far(i+1) < far(best)) {
			best = i + 1
		}
	}
	return best
}

// Bounds of what is looked at of files that a program has written: bytes of all, files.
const (
	maxWritten      = 64 << 20
	maxWrittenFiles = 10_000
)

// written are the files of a side's tree that are not among those of before, by name, and
// behind it what they hold; all names for nil.
func (u *use) written(side Side, before map[string]bool) map[string]bool {
	out := map[string]bool{}
	root, err := os.OpenRoot(u.in.tree(side).Dir)
	if err != nil {
		return out
	}
	defer root.Close()
	tree := regular.FS(root)
	left := int64(maxWritten)
	_ = fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error { // what cannot be read is not compared
		switch {
		case err != nil:
			return nil
		case e.IsDir():
			if base := e.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "__pycache__") {
				return fs.SkipDir
			}
		case before == nil:
			out[name] = true
		case !before[name] && e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				return nil //nolint:nilerr // as above
			}
			if len(out) == maxWrittenFiles {
				return fs.SkipAll
			}
			if left -= info.Size(); left < 0 {
				out[fmt.Sprintf("%s (%d bytes)", name, info.Size())] = true
			} else if sum, err := hashed(tree, name, info.Size()); err == nil {
				out[fmt.Sprintf("%s (sha256 %.6x)", name, sum)] = true
			}
		}
		return nil
	})
	return out
}

// hashed is the hash of a file's first bytes.
func hashed(tree fs.FS, name string, size int64) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, size)); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
