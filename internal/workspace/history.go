package workspace

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/workspace/git"
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

// setTags makes the mirror's tags those of want. What it has not of the objects that new
// ones name, bring brings.
func (m *Mirror) setTags(ctx context.Context, want map[string]string, bring func(missing map[string]string) error) error {
	have, err := readRefs(m.Dir)
	if err != nil {
		return err
	}
	var away, here strings.Builder
	for ref := range have {
		if strings.HasPrefix(ref, "refs/tags/") && want[ref] == "" {
			fmt.Fprintf(&away, "delete %s\n", ref)
		}
	}
	var refs, oids []string
	for ref, oid := range want {
		if have[ref] != oid {
			fmt.Fprintf(&here, "update %s %s\n", ref, oid)
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
	for _, edits := range []string{away.String(), here.String()} { // what goes may be in the way of what comes
		if edits == "" {
			continue
		}
		if _, err := m.git.Run(ctx, git.Call{GitDir: m.Dir, Stdin: strings.NewReader(edits), Args: []string{"update-ref", "--stdin"}}); err != nil {
			return err
		}
	}
	return nil
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
