package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// canDeepen reports whether a view has history that was cut off when the mirror
// got it.
func (m *Mirror) canDeepen(ctx context.Context, v *repository.View) (bool, error) {
	theirs := git.Shallow(v.Dir)
	var cut []string
	for _, c := range git.Shallow(m.Dir) {
		if !slices.Contains(theirs, c) {
			cut = append(cut, c)
		}
	}
	types, err := m.git.ObjectTypes(ctx, v.Dir, cut)
	return slices.Contains(types, "commit"), err
}

// updateShallow writes down where the mirror's history is cut off: at those of
// its own and the view's borders whose parents it does not have.
func (m *Mirror) updateShallow(ctx context.Context, v *repository.View) error {
	border := append(git.Shallow(m.Dir), git.Shallow(v.Dir)...)
	if len(border) == 0 {
		return nil
	}
	slices.Sort(border)
	border = slices.Compact(border)
	types, err := m.git.ObjectTypes(ctx, m.Dir, border)
	if err != nil {
		return err
	}
	var cut []string
	for i, c := range border {
		if types[i] != "commit" {
			continue
		}
		whole, err := m.hasParents(ctx, c)
		if err != nil {
			return err
		}
		if !whole {
			cut = append(cut, c)
		}
	}
	if len(cut) == 0 {
		err := os.Remove(m.path("shallow"))
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	tmp := m.path("shallow.new")
	if err := os.WriteFile(tmp, []byte(strings.Join(cut, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, m.path("shallow"))
}

// hasParents looks at the commit object itself, not at what git makes of it.
func (m *Mirror) hasParents(ctx context.Context, commit string) (bool, error) {
	raw, err := m.run(ctx, "cat-file", "commit", commit)
	if err != nil {
		return false, err
	}
	head, _, _ := strings.Cut(string(raw), "\n\n")
	var parents []string
	for l := range strings.SplitSeq(head, "\n") {
		if p, ok := strings.CutPrefix(l, "parent "); ok {
			parents = append(parents, p)
		}
	}
	types, err := m.git.ObjectTypes(ctx, m.Dir, parents)
	return !slices.Contains(types, ""), err
}

// syncTags makes the mirror's tags those of the view that name commits which
// the mirror has.
func (m *Mirror) syncTags(ctx context.Context, v *repository.View) error {
	want, err := m.wantedTags(ctx, v)
	if err != nil {
		return err
	}
	return m.setTags(ctx, want, func(missing map[string]string) error {
		return m.copyObjects(ctx, v, slices.Compact(slices.Sorted(maps.Values(missing))))
	})
}

// setTags makes the mirror's tags those of want, all in one file: one that is broken off leaves
// no lock of a single tag, and thousands are written at once. What it has not of the objects
// that new ones name, bring brings. The mirror's lock is held.
func (m *Mirror) setTags(ctx context.Context, want map[string]string, bring func(missing map[string]string) error) error {
	have, err := readRefs(m.Dir)
	if err != nil {
		return err
	}
	maps.DeleteFunc(want, func(ref, _ string) bool { return !objects.IsRef(ref) }) // git would read none of the others
	var refs, oids []string
	for ref, oid := range want {
		if have[ref] != oid {
			refs, oids = append(refs, ref), append(oids, oid)
		}
	}
	types, err := m.git.ObjectTypes(ctx, m.Dir, oids)
	if err != nil {
		return err
	}
	missing := map[string]string{}
	for i, ref := range refs {
		if types[i] == "" {
			missing[ref] = oids[i]
		}
	}
	if len(missing) > 0 {
		if err := bring(missing); err != nil {
			return err
		}
	}
	loose, err := os.ReadDir(m.path(tagsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	maps.DeleteFunc(have, func(ref, _ string) bool { return !strings.HasPrefix(ref, tagsDir+"/") })
	if len(loose) == 0 && maps.Equal(have, want) {
		return nil
	}
	return m.packTags(want)
}

// tagsDir is where the tags of a git directory lie that have a file each, and what the names
// of all begin with.
const tagsDir = "refs/tags"

// packTags writes tags into the file of refs, beside the others that it has.
func (m *Mirror) packTags(tags map[string]string) error {
	packed, err := os.ReadFile(m.path(packedRefs))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all := maps.Clone(tags)
	for line := range strings.Lines(string(packed)) {
		oid, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && objects.IsID(oid) && !strings.HasPrefix(ref, tagsDir+"/") {
			all[ref] = oid
		}
	}
	var out strings.Builder
	for _, ref := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&out, "%s %s\n", all[ref], ref)
	}
	tmp := m.path(packedRefs + ".new")
	if err := os.WriteFile(tmp, []byte(out.String()), 0o600); err != nil {
		return err
	}
	if err := os.Rename(tmp, m.path(packedRefs)); err != nil {
		return err
	}
	return os.RemoveAll(m.path(tagsDir)) // a file of its own goes before what stands there
}

func (m *Mirror) wantedTags(ctx context.Context, v *repository.View) (map[string]string, error) {
	var refs, peel []string
	for ref, oid := range v.Refs {
		if strings.HasPrefix(ref, "refs/tags/") {
			refs = append(refs, ref)
			peel = append(peel, oid+"^{commit}")
		}
	}
	peeled, err := m.git.ObjectInfos(ctx, v.Dir, peel)
	if err != nil {
		return nil, err
	}
	commits := map[string]string{}
	for i, p := range peeled {
		if p.Type == "commit" {
			commits[refs[i]] = p.OID
		}
	}
	return m.tagsHere(ctx, v.Refs, commits)
}

// tagsHere are those of refs that name, by themselves or by a tag's object, commits which
// the mirror has.
func (m *Mirror) tagsHere(ctx context.Context, refs, commits map[string]string) (map[string]string, error) {
	names := slices.Collect(maps.Keys(commits))
	var oids []string
	for _, name := range names {
		oids = append(oids, commits[name])
	}
	types, err := m.git.ObjectTypes(ctx, m.Dir, oids)
	if err != nil {
		return nil, err
	}
	want := map[string]string{}
	for i, name := range names {
		if types[i] == "commit" {
			want[name] = refs[name]
		}
	}
	return want, nil
}
