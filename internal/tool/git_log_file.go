package tool

import (
	"context"
	"strconv"
)

type logArgs struct {
	Path  string `json:"path,omitempty" jsonschema:"File or folder; default the whole project."`
	Rev   string `json:"rev,omitempty" jsonschema:"Where to start; default head."`
	Limit int    `json:"limit,omitempty" jsonschema:"How many commits, 1 to 50; default 10."`
}

// GitLogFile makes the tool git_log_file.
func GitLogFile(r Repo) Tool {
	return define("git_log_file", GitRead, true, func(ctx context.Context, in logArgs) (Result, error) {
		rev, err := r.orDefault(ctx, in.Rev, r.Head)
		if err != nil {
			return Result{}, err
		}
		if in.Limit <= 0 {
			in.Limit = 10
		}
		args := []string{"log", "--no-color", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--date=short", "--format=%h %ad %an: %s", "--max-count=" + strconv.Itoa(min(in.Limit, gitCommits)), rev, "--"}
		if in.Path != "" {
			name, err := repoPath(in.Path)
			if err != nil {
				return Result{}, err
			}
			args = append(args, name)
		}
		return r.run(ctx, "log", args...)
	})
}
