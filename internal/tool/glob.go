package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// What one search answers and looks at at most.
const (
	globMatches = 200
	grepHits    = 50
	grepBytes   = 256 << 10
	grepFile    = 4 << 20
	grepLine    = 400
)

var errEnough = errors.New("enough")

type globArgs struct {
	Pattern string `json:"pattern" jsonschema:"Pattern with *, ?, [a-z], {a,b} and **."`
	Path    string `json:"path,omitempty" jsonschema:"Folder; default the root."`
	Side    string `json:"side,omitempty" jsonschema:"head (default) or base."`
}

// Glob makes the tool glob.
func Glob(t Trees) Tool {
	return define("glob", Read, true, func(ctx context.Context, in globArgs) (Result, error) {
		if !doublestar.ValidatePattern(in.Pattern) || in.Pattern == "" {
			return Result{}, Badf("glob: pattern %s is not valid", show(in.Pattern))
		}
		at, err := t.place(in.Path, in.Side)
		if err != nil {
			return Result{}, err
		}
		var found []string
		kept := 0
		err = at.walk(ctx, func(name string, _ fs.DirEntry) error {
			if !matches(in.Pattern, relative(at.name, name)) {
				return nil
			}
			if at.hidden("Glob", name) {
				kept++
				return nil
			}
			if len(found) == globMatches {
				return errEnough
			}
			found = append(found, inline(name))
			return nil
		})
		more := errors.Is(err, errEnough)
		if err != nil && !more {
			return Result{}, err
		}
		text := listed(found, more, "no file matches", fmt.Sprintf("[… more than %d: narrow the pattern …]", globMatches))
		if kept > 0 {
			text += fmt.Sprintf("[%d files are left out: rules of the permission file keep them back]\n", kept)
		}
		return Result{Text: text}, nil
	})
}

// matches matches a path; a pattern without a slash is for the last element.
func matches(pattern, name string) bool {
	pattern = strings.TrimPrefix(pattern, "./")
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	return doublestar.MatchUnvalidated(pattern, name)
}

func relative(from, name string) string {
	if from == "." {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, from), "/")
}

// walk visits files and links below a place, without following links, in the
// order of their paths.
func (p place) walk(ctx context.Context, visit func(name string, e fs.DirEntry) error) error {
	if _, err := p.root.Stat(p.name); err != nil {
		return fileError(p.name, err)
	}
	return fs.WalkDir(p.root.FS(), p.name, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // a folder that cannot be read has nothing to find
		case e.Name() == ".git":
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		return visit(name, e)
	})
}

func listed(lines []string, more bool, none, rest string) string {
	if len(lines) == 0 {
		return "[" + none + "]\n"
	}
	if more {
		lines = append(slices.Clone(lines), rest)
	}
	return strings.Join(lines, "\n") + "\n"
}
