package tool

import (
	"context"
	"strconv"
)

type diffArgs struct {
	Paths   []string `json:"paths,omitempty" jsonschema:"Files or folders; default all that changed."`
	From    string   `json:"from,omitempty" jsonschema:"Revision to compare with; default merge_base."`
	To      string   `json:"to,omitempty" jsonschema:"Revision to compare; default head."`
	Context int      `json:"context,omitempty" jsonschema:"Lines of context, 0 to 50; default 3."`
}

// GitDiffFiles makes the tool git_diff_files.
func GitDiffFiles(r Repo) Tool {
	return define("git_diff_files", GitRead, true, func(ctx context.Context, in diffArgs) (Result, error) {
		from, to, err := r.pair(ctx, in.From, in.To)
		if err != nil {
			return Result{}, err
		}
		if in.Context <= 0 || in.Context > 50 {
			in.Context = 3
		}
		args := []string{"diff-tree", "-r", "-p", "-M", "--no-commit-id", "--no-color", "--no-ext-diff", "--no-textconv", "-U" + strconv.Itoa(in.Context), from, to, "--"}
		for _, p := range in.Paths {
			name, err := repoPath(p)
			if err != nil {
				return Result{}, err
			}
			args = append(args, name)
		}
		return r.run(ctx, "diff", args...)
	})
}
