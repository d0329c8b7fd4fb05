package workspace

import (
	"context"
	"fmt"
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
	have, err := readRefs(m.Dir)
	if err != nil {
		return err
	}
	var edits strings.Builder
	for ref := range have {
		if strings.HasPrefix(ref, "refs/tags/") && want[ref] == "" {
			fmt.Fprintf(&edits, "delete %s\n", ref)
		}
	}
	var objects []string
	for ref, oid := range want {
		if have[ref] != oid {
			fmt.Fprintf(&edits, "update %s %s\n", ref, oid)
			objects = append(objects, oid)
		}
	}
	if edits.Len() == 0 {
		return nil
	}
	types, err := m.git.ObjectTypes(ctx, m.Dir, objects)
	if err != nil {
		return err
	}
	var bring []string
	for i, oid := range objects {
		if types[i] == "" {
			bring = append(bring, oid)
		}
	}
	slices.Sort(bring)
	if err := m.copyObjects(ctx, v, slices.Compact(bring)); err != nil {
		return err
	}
	_, err = m.git.Run(ctx, git.Call{GitDir: m.Dir, Stdin: strings.NewReader(edits.String()), Args: []string{"update-ref", "--stdin"}})
	return err
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
	var commits []string
	for _, p := range peeled {
		if p.Type == "commit" {
			commits = append(commits, p.OID)
		} else {
			commits = append(commits, strings.Repeat("0", 40)) // names no object
		}
	}
	types, err := m.git.ObjectTypes(ctx, m.Dir, commits)
	if err != nil {
		return nil, err
	}
	want := map[string]string{}
	for i, ref := range refs {
		if types[i] == "commit" {
			want[ref] = v.Refs[ref]
		}
	}
	return want, nil
}
