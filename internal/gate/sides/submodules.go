package sides

import (
	"context"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/classes"
)

// gitlink is the mode of a submodule in a commit.
const gitlink = "160000"

// MovedSubmodules are the submodules that stand at another commit with the change and whose
// folders tests of the base name, and no source does.
func (r *Reader) MovedSubmodules(ctx context.Context) ([]string, error) {
	before, err := r.submodules(ctx, r.Base.Commit)
	if err != nil || len(before) == 0 {
		return nil, err
	}
	after, err := r.submodules(ctx, r.Head.Commit)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range r.Change.Paths() {
		was, is := before[name], after[name]
		if was == "" || is == "" || was == is {
			continue
		}
		test, source, ok := r.namedIn(name, classes.Names)
		if ok && test && !source && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// submodules are the commits at which those of a commit stand, by path.
func (r *Reader) submodules(ctx context.Context, commit string) (map[string]string, error) {
	files, err := r.Mirror.Files(ctx, commit)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range files {
		if f.Mode == gitlink {
			out[f.Path] = f.OID
		}
	}
	return out, nil
}
