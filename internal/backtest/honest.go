package backtest

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/workspace"
	"golang.org/x/tools/txtar"
)

// Each file of the folder is a sample repository: what stands below "before/" is its
// first commit, and "after/" its second, in which only what differs is listed. A file of
// "after/" whose only line is "(deleted)" is taken away. The comment's first line is the
// subject of the second commit.
//
//go:embed honest/*.txtar
var samples embed.FS

// honest makes the sample repositories of honest edits, where the plan has that arm.
func (b *Backtest) honest(ctx context.Context, plan *Plan, out string) ([]made, error) {
	if !slices.Contains(plan.Arms, Honest) {
		return nil, nil
	}
	entries, err := fs.ReadDir(samples, "honest")
	if err != nil {
		return nil, err
	}
	var all []made
	for _, e := range entries {
		data, err := samples.ReadFile("honest/" + e.Name())
		if err != nil {
			return nil, err
		}
		m, err := b.sample(ctx, out, strings.TrimSuffix(e.Name(), ".txtar"), txtar.Parse(data))
		if err != nil {
			return nil, fmt.Errorf("sample repository %s: %w", e.Name(), err)
		}
		all = append(all, m)
	}
	return all, nil
}

func (b *Backtest) sample(ctx context.Context, out, name string, a *txtar.Archive) (made, error) {
	scratch, err := workspace.OpenScratch(ctx, b.Git, filepath.Join(out, "work", "honest-"+name), "sha1")
	if err != nil {
		return made{}, err
	}
	f := forge{scratch}
	sides := map[string]map[string]blob{"before": {}, "after": {}}
	for _, file := range a.Files {
		side, rel, _ := strings.Cut(path.Clean(file.Name), "/")
		if sides[side] == nil {
			return made{}, fmt.Errorf("%s: begins neither with before/ nor with after/", file.Name)
		}
		if side == "after" && strings.TrimSpace(string(file.Data)) == "(deleted)" {
			sides[side][rel] = blob{}
			continue
		}
		mode := "100644"
		if strings.HasPrefix(string(file.Data), "#!") {
			mode = "100755"
		}
		if sides[side][rel], err = f.write(ctx, mode, file.Data); err != nil {
			return made{}, err
		}
	}
	empty, err := f.Git(ctx, strings.NewReader(""), nil, "hash-object", "-t", "tree", "-w", "--stdin")
	if err != nil {
		return made{}, err
	}
	base, err := f.commit(ctx, "", strings.TrimSpace(string(empty)), sides["before"], "first version")
	if err != nil {
		return made{}, err
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(string(a.Comment)), "\n")
	head, err := f.commit(ctx, base, base, sides["after"], subject)
	return made{scratch, "honest/" + name, PlannedChange{Commit: head, Parent: base, Tests: true}, name}, err
}
