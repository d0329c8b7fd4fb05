package sides

import (
	"context"
	"strconv"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
)

// hunk is the head of a hunk in a patch without context.
var HunkHead = pattern.New(`(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// addedLines are the lines of the new file that a patch without context brings.
func addedLines(patch string) map[int]bool {
	out := map[int]bool{}
	for _, m := range HunkHead.FindAllStringSubmatch(patch, -1) {
		from, _ := strconv.Atoi(m[1])
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		for i := range n {
			out[from+i] = true
		}
	}
	return out
}

// Added are the lines of the head that the change adds to a file, by their numbers.
func (r *Reader) Added(ctx context.Context, f change.File) (map[int]bool, error) {
	args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "-U0", r.Base.Commit, r.Head.Commit, "--", f.Path}
	if f.OldPath != "" {
		args = append(args, f.OldPath)
	}
	patch, err := r.Mirror.Git(ctx, args...)
	return addedLines(string(patch)), err
}
