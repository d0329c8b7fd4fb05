package tool

import (
	"context"
	"fmt"
)

type blameArgs struct {
	Path  string `json:"path" jsonschema:"File."`
	Start int    `json:"start" jsonschema:"First line, counted from 1."`
	End   int    `json:"end,omitempty" jsonschema:"Last line; default the first, at most 500 lines."`
	Rev   string `json:"rev,omitempty" jsonschema:"Revision; default head."`
}

// GitBlameLines makes the tool git_blame_lines.
func GitBlameLines(r Repo) Tool {
	return define("git_blame_lines", GitRead, true, func(ctx context.Context, in blameArgs) (Result, error) {
		name, err := repoPath(in.Path)
		if err != nil {
			return Result{}, err
		}
		rev, err := r.orDefault(ctx, in.Rev, r.Head)
		if err != nil {
			return Result{}, err
		}
		in.End = max(in.End, in.Start)
		if in.Start < 1 || in.End-in.Start >= blameLines {
			return Result{}, Badf("lines %d to %d: want 1 or more, at most %d at a time", in.Start, in.End, blameLines)
		}
		return r.run(ctx, "blame", "blame", "--date=short", "-L", fmt.Sprintf("%d,%d", in.Start, in.End), rev, "--", name)
	})
}
