package git

import (
	"context"
	"fmt"
	"strings"
)

// ObjectTypes returns the type of each named object, "" for those that are missing.
func (g *Git) ObjectTypes(ctx context.Context, gitDir string, names []string) ([]string, error) {
	infos, err := g.ObjectInfos(ctx, gitDir, names)
	out := make([]string, len(infos))
	for i, info := range infos {
		out[i] = info.Type
	}
	return out, err
}

// An ObjectInfo is what git knows of an object; both are empty where it is missing.
type ObjectInfo struct{ OID, Type string }

// ObjectInfos returns id and type of each named object.
func (g *Git) ObjectInfos(ctx context.Context, gitDir string, names []string) ([]ObjectInfo, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, err := g.Run(ctx, Call{
		GitDir: gitDir,
		Stdin:  strings.NewReader(strings.Join(names, "\n") + "\n"),
		Args:   []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"},
	})
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		return nil, fmt.Errorf("git cat-file: %d answers to %d questions", len(lines), len(names))
	}
	infos := make([]ObjectInfo, len(names))
	for i, l := range lines {
		oid, typ, _ := strings.Cut(l, " ")
		if typ != "missing" {
			infos[i] = ObjectInfo{oid, typ}
		}
	}
	return infos, nil
}
