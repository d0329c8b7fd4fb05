package tool

import (
	"context"
	"fmt"
	"strings"
)

type statusArgs struct{}

// GitBranchStatus makes the tool git_branch_status.
func GitBranchStatus(r Repo) Tool {
	return define("git_branch_status", GitRead, true, func(ctx context.Context, _ statusArgs) (Result, error) {
		out, err := r.Git(ctx, "rev-list", "--left-right", "--count", r.Base+"..."+r.Head, "--")
		if err != nil {
			if ctx.Err() != nil {
				return Result{}, ctx.Err()
			}
			return Result{}, Badf("branch status: %s", clip(err.Error(), 400))
		}
		behind, ahead, ok := strings.Cut(strings.TrimSpace(string(out)), "\t")
		if !ok {
			return Result{}, fmt.Errorf("git rev-list: unexpected answer %q", out)
		}
		text := fmt.Sprintf("head %s\nbase %s\nmerge_base %s\ncommits that only the head has: %s\ncommits that only the base has: %s\n",
			r.Head, r.Base, r.MergeBase, ahead, behind)
		return Result{Text: text}, nil
	})
}
