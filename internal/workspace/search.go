package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// mostFound bounds what a search returns.
const mostFound = 64 << 20

// Occurrences returns in which files of a commit each of these literal texts stands as
// a whole word, in git's order. Binary files are left out. It is an [ErrTooLarge] where
// they stand in too many places.
func (m *Mirror) Occurrences(ctx context.Context, commit string, texts ...string) (map[string][]string, error) {
	found := map[string][]string{}
	if len(texts) == 0 {
		return found, nil
	}
	if err := m.need(ctx, commit); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	args := []string{"grep", "--no-color", "-I", "-o", "-w", "-F", "-z"}
	for _, t := range texts {
		args = append(args, "-e", t)
	}
	out, err := m.git.Run(ctx, git.Call{GitDir: m.Dir, Max: mostFound, Args: append(args, commit, "--")})
	var failed *git.Error
	if errors.As(err, &failed) && failed.Exit == 1 && failed.Stderr == "" {
		err = nil // nothing was found
	}
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", change.Short(commit), err)
	}
	for line := range strings.Lines(string(out)) {
		name, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		if name = strings.TrimPrefix(name, commit+":"); !ok {
			continue
		}
		if files := found[text]; len(files) == 0 || files[len(files)-1] != name {
			found[text] = append(files, name)
		}
	}
	return found, nil
}
