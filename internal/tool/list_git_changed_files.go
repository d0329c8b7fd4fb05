package tool

import "context"

type changedArgs struct {
	From string `json:"from,omitempty" jsonschema:"Revision to compare with; default merge_base."`
	To   string `json:"to,omitempty" jsonschema:"Revision to compare; default head."`
}

// ListGitChangedFiles makes the tool list_git_changed_files.
func ListGitChangedFiles(r Repo) Tool {
	return define("list_git_changed_files", GitRead, true, func(ctx context.Context, in changedArgs) (Result, error) {
		from, to, err := r.pair(ctx, in.From, in.To)
		if err != nil {
			return Result{}, err
		}
		return r.run(ctx, "changed files", "diff-tree", "-r", "-M", "--name-status", "--no-commit-id", "--no-color", "--no-ext-diff", "--no-textconv", from, to)
	})
}
