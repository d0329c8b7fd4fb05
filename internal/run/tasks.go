package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/sorted"
)

// A Task is a task with the run that it belongs to.
type Task struct {
	agent.Record
	Run  string `json:"run"`
	Dir  string `json:"run_dir"`
	Live *Live  `json:"-"` // nil: the run has ended
}

// Tasks reads the tasks of runs below home, the newest first: those of the latest runs
// until there are enough of them, 0 for all; where only is not empty, those of the run
// directory of that name. It also returns the runs that go on now.
func Tasks(ctx context.Context, home, only string, enough int) ([]Task, []Live, error) {
	live, err := LiveRuns(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	dirs, err := runDirs(home, only, live)
	if err != nil {
		return nil, nil, err
	}
	var out []Task
	for _, dir := range dirs {
		if enough > 0 && len(out) >= enough {
			break
		}
		events, err := readEvents(dir)
		if errors.Is(err, fs.ErrNotExist) && only == "" {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		var now *Live
		if i := slices.IndexFunc(live, func(l Live) bool { return l.Dir == dir }); i >= 0 {
			now = &live[i]
		}
		id := runID(events, dir)
		for _, rec := range agent.Records(id, events, now != nil) {
			out = append(out, Task{Record: rec, Run: id, Dir: dir, Live: now})
		}
	}
	sorted.By(out, func(a, b Task) int { return b.Started.Compare(a.Started) })
	return out, live, nil
}

// runID is the name of a run.
func runID(events []agent.Event, dir string) string {
	for _, e := range events {
		if e.Type == agent.EventRunStart {
			return e.Text
		}
	}
	return filepath.Base(dir)
}

// runDirs are the run directories, the latest first: those of projects, those of
// the App, and those of runs that go on now wherever they lie.
func runDirs(home, only string, live []Live) ([]string, error) {
	if only != "" {
		dir, err := filepath.Abs(only)
		return []string{dir}, err
	}
	var out []string
	for _, pattern := range []string{"projects/*/runs/*", "runs/*/*/*/*"} {
		found, err := filepath.Glob(filepath.Join(home, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	for _, l := range live {
		out = append(out, l.Dir)
	}
	used := map[string]time.Time{}
	for _, dir := range out {
		if info, err := os.Stat(filepath.Join(dir, "events.jsonl")); err == nil {
			used[dir] = info.ModTime()
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	slices.SortStableFunc(out, func(a, b string) int { return used[b].Compare(used[a]) })
	return out, nil
}

func readEvents(dir string) ([]agent.Event, error) {
	f, err := os.Open(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	events, err := agent.ReadEvents(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return events, nil
}

// Events are all events of the task's run.
func (t Task) Events() ([]agent.Event, error) { return readEvents(t.Dir) }
