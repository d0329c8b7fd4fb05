package tool

import (
	"bytes"
	"context"
	"errors"

	"github.com/ycbot/ycbot/internal/workspace/git"
)

type showArgs struct {
	Path        string `json:"path" jsonschema:"File."`
	Rev         string `json:"rev" jsonschema:"head, base, merge_base or a commit id, also with ~N behind it."`
	Offset      int    `json:"offset,omitempty" jsonschema:"First line, counted from 1."`
	Limit       int    `json:"limit,omitempty" jsonschema:"Lines, at most 2000."`
	LineNumbers bool   `json:"line_numbers,omitempty" jsonschema:"Number the lines."`
}

// GitShowFileAtRev makes the tool git_show_file_at_rev.
func GitShowFileAtRev(r Repo) Tool {
	return define("git_show_file_at_rev", GitRead, true, func(ctx context.Context, in showArgs) (Result, error) {
		name, err := repoPath(in.Path)
		if err != nil {
			return Result{}, err
		}
		rev, err := r.commit(ctx, in.Rev)
		if err != nil {
			return Result{}, err
		}
		data, err := r.ReadFile(ctx, rev, name)
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		if errors.Is(err, git.ErrTooLarge) {
			return Result{}, Badf("%s at %s is too large to be read", show(in.Path), in.Rev)
		}
		if err != nil {
			return Result{}, Badf("%s is no file at %s", show(in.Path), in.Rev)
		}
		text, err := readLinesOf(bytes.NewReader(data), in.Path, readFileArgs{Offset: in.Offset, Limit: in.Limit, LineNumbers: in.LineNumbers})
		return Result{Text: text}, err
	})
}
