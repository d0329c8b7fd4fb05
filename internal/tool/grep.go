package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ycbot/ycbot/internal/evidence"
)

type grepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"Regular expression (RE2), matched line by line."`
	Path       string `json:"path,omitempty" jsonschema:"File or folder; default all."`
	Glob       string `json:"glob,omitempty" jsonschema:"Only files that match, such as *.go or src/**/*.ts."`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"Capitals do not matter."`
	Side       string `json:"side,omitempty" jsonschema:"head (default) or base."`
}

// Grep makes the tool grep. Private, binary and very large files are not
// searched, links not followed.
func Grep(t Trees) Tool {
	return define("grep", Read, true, func(ctx context.Context, in grepArgs) (Result, error) {
		expr := in.Pattern
		if in.IgnoreCase {
			expr = "(?i)" + expr
		}
		re, err := regexp.Compile(expr)
		if err != nil || in.Pattern == "" {
			return Result{}, Badf("grep: pattern %s: %v", show(in.Pattern), err)
		}
		if in.Glob != "" && !doublestar.ValidatePattern(in.Glob) {
			return Result{}, Badf("grep: glob %s is not valid", show(in.Glob))
		}
		at, err := t.place(in.Path, in.Side)
		if err != nil {
			return Result{}, err
		}
		g := search{re: re, at: at}
		err = at.walk(ctx, func(name string, e fs.DirEntry) error {
			if !e.Type().IsRegular() || in.Glob != "" && !matches(in.Glob, relative(at.name, name)) && !matches(in.Glob, name) {
				return nil
			}
			return g.file(name)
		})
		more := errors.Is(err, errEnough)
		if err != nil && !more {
			return Result{}, err
		}
		text := listed(g.hits, more, "no line matches", "[… more: narrow the search …]")
		if g.skipped > 0 {
			text += fmt.Sprintf("[%d private or very large files were not searched]\n", g.skipped)
		}
		return Result{Text: text}, nil
	})
}

// A search collects hits.
type search struct {
	re      *regexp.Regexp
	at      place
	hits    []string
	bytes   int
	skipped int
}

func (g *search) file(name string) error {
	if g.at.kept(name) != "" || g.at.hidden("Grep", name) {
		g.skipped++
		return nil
	}
	f, err := openRegular(g.at.root, name)
	if err != nil {
		var mistake *BadCall
		if errors.As(err, &mistake) {
			return nil
		}
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > grepFile {
		g.skipped++
		return nil
	}
	r := bufio.NewReaderSize(f, 64<<10)
	if head, _ := r.Peek(8000); bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	s := bufio.NewScanner(r)
	s.Buffer(nil, grepFile+1)
	for n := 1; s.Scan(); n++ {
		if !g.re.Match(s.Bytes()) {
			continue
		}
		line := fmt.Sprintf("%s:%d: %s", inline(name), n, clip(strings.TrimRight(s.Text(), "\r"), grepLine))
		if len(g.hits) == grepHits || g.bytes+len(line) > grepBytes {
			return errEnough
		}
		g.hits, g.bytes = append(g.hits, line), g.bytes+len(line)
	}
	return s.Err()
}

// clip shortens a line to n runes.
func clip(s string, n int) string {
	s = evidence.Visible(s)
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + " […]"
	}
	return s
}
