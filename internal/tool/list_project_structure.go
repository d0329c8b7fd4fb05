package tool

import (
	"context"
	"fmt"
	"path"
	"strings"
)

type structureArgs struct {
	Path  string `json:"path,omitempty" jsonschema:"Folder; default the root."`
	Side  string `json:"side,omitempty" jsonschema:"head (default) or base."`
	Depth int    `json:"depth,omitempty" jsonschema:"How many levels, 1 to 8; default 3."`
}

// ListProjectStructure makes the tool list_project_structure.
func ListProjectStructure(t Trees) Tool {
	return define("list_project_structure", Read, true, func(ctx context.Context, in structureArgs) (Result, error) {
		at, err := t.place(in.Path, in.Side)
		if err != nil {
			return Result{}, err
		}
		if in.Depth == 0 {
			in.Depth = structureDepth
		}
		s := structure{at: at, depth: min(max(in.Depth, 1), structureDeepest)}
		if err := s.folder(ctx, at.name, 0); err != nil {
			return Result{}, err
		}
		if s.left {
			s.lines = append(s.lines, "[… more: ask for a folder by itself …]")
		}
		return Result{Text: strings.Join(append(s.lines, ""), "\n")}, nil
	})
}

// A structure collects the lines of a tree.
type structure struct {
	at    place
	depth int
	lines []string
	left  bool
}

func (s *structure) folder(ctx context.Context, name string, level int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := readDir(s.at.root, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(s.lines) >= structureLines {
			s.left = true
			return nil
		}
		child := path.Join(name, e.Name())
		line := strings.Repeat("  ", level) + entryLine(s.at.root, child, e)
		kept := e.IsDir() && s.at.hidden("List", child)
		switch {
		case kept:
			line += " (a rule of the permission file keeps it back)"
		case e.IsDir() && level+1 >= s.depth:
			if inner, err := readDir(s.at.root, child); err == nil {
				line += fmt.Sprintf(" (%d entries)", len(inner))
			}
		}
		s.lines = append(s.lines, line)
		if e.IsDir() && !kept && level+1 < s.depth {
			if err := s.folder(ctx, child, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}
