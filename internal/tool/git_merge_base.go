package tool

import "context"

type mergeBaseArgs struct {
	A string `json:"a,omitempty" jsonschema:"Revision; default base."`
	B string `json:"b,omitempty" jsonschema:"Revision; default head."`
}

// GitMergeBase makes the tool git_merge_base.
func GitMergeBase(r Repo) Tool {
	return define("git_merge_base", GitRead, true, func(ctx context.Context, in mergeBaseArgs) (Result, error) {
		a, err := r.orDefault(ctx, in.A, r.Base)
		if err != nil {
			return Result{}, err
		}
		b, err := r.orDefault(ctx, in.B, r.Head)
		if err != nil {
			return Result{}, err
		}
		return r.run(ctx, "merge base", "merge-base", a, b)
	})
}
