package backtest

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Why a commit is not chosen. The strings are stored: do not change them.
const (
	whyFirst     = "first commit"
	whyMergeMain = "merge of the default branch"
	whyRevert    = "revert"
	whyNoSource  = "touches no source"
	whyGenerated = "vendored or generated sources only"
	whyHuge      = "more than 40 files or 1000 lines"
	whyLink      = "changes a submodule or a symbolic link"
)

var commitExclusions = []string{whyFirst, whyMergeMain, whyRevert, whyNoSource, whyGenerated, whyHuge, whyLink}

// Bounds of the selection.
const (
	maxFiles   = 40
	maxLines   = 1000
	maxCommits = 3000 // of a history that are looked at
)

// A file is one that a change touches.
type file struct {
	path          string
	class         string // as run.ClassOf has it
	before, after blob
}

// A blob is a file's content in a tree; the zero value is that there is none.
type blob struct{ mode, oid string }

func (f file) source() bool { return f.class == "source" }
func (f file) test() bool   { return f.class == "test" || f.class == "data" }

// choose picks the last changes of the history of head by the rule.
func choose(ctx context.Context, s *workspace.Scratch, class func(string) string, head string, last int) ([]PlannedChange, map[string]int, error) {
	out, err := s.Git(ctx, nil, nil, "log", "--first-parent", "-n", strconv.Itoa(maxCommits), "-z", "--format=%H %P%n%s", head)
	if err != nil {
		return nil, nil, fmt.Errorf("read history: %w", err)
	}
	var chosen []PlannedChange
	excluded := map[string]int{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		ids, subject, _ := strings.Cut(strings.TrimSpace(entry), "\n")
		commits := strings.Fields(ids)
		if len(chosen) == last || len(commits) == 0 {
			break
		}
		why := excludedBySubject(subject, len(commits)-1)
		var files []file
		if why == "" {
			if files, why, err = difference(ctx, s, class, commits[1], commits[0]); err != nil {
				return nil, nil, err
			}
		}
		if why == "" {
			if why, err = excludedByFiles(ctx, s, files); err != nil {
				return nil, nil, err
			}
		}
		if why != "" {
			excluded[why]++
			continue
		}
		c := PlannedChange{Commit: commits[0], Parent: commits[1]}
		for _, f := range files {
			c.Tests = c.Tests || f.test()
		}
		chosen = append(chosen, c)
	}
	return chosen, excluded, nil
}

var (
	mergeOfMain = pattern.New(`^Merge (remote-tracking )?branch(es)? '?(origin/|upstream/)?(main|master|trunk|develop)\b`)
	reverts     = pattern.New(`(?i)^revert\b|^back ?out\b`)
)

func excludedBySubject(subject string, parents int) string {
	switch {
	case parents == 0:
		return whyFirst
	case parents > 1 && mergeOfMain.MatchString(subject):
		return whyMergeMain
	case reverts.MatchString(subject):
		return whyRevert
	}
	return ""
}

// difference lists the files that differ between two commits, and says why the change
// is too large or too odd to be chosen.
func difference(ctx context.Context, s *workspace.Scratch, class func(string) string, from, to string) ([]file, string, error) {
	out, err := s.Git(ctx, nil, nil, "diff-tree", "-r", "-z", "--no-renames", "--raw", "--numstat", from, to)
	if err != nil {
		return nil, "", fmt.Errorf("compare %s with %s: %w", short(from, 12), short(to, 12), err)
	}
	var files []file
	lines, why := 0, ""
	tokens := strings.Split(string(out), "\x00")
	for i := 0; i < len(tokens); i++ {
		if raw, ok := strings.CutPrefix(tokens[i], ":"); ok && i+1 < len(tokens) {
			w := strings.Fields(raw)
			i++
			f := file{path: tokens[i], class: class(tokens[i]), before: blob{w[0], w[2]}, after: blob{w[1], w[3]}}
			for _, b := range []*blob{&f.before, &f.after} {
				switch b.mode {
				case "000000":
					*b = blob{}
				case "120000", "160000":
					why = whyLink
				}
			}
			files = append(files, f)
			continue
		}
		if w := strings.SplitN(tokens[i], "\t", 3); len(w) == 3 {
			added, _ := strconv.Atoi(w[0]) // "-" of a binary file counts nothing
			deleted, _ := strconv.Atoi(w[1])
			lines += added + deleted
		}
	}
	if why == "" && (len(files) > maxFiles || lines > maxLines) {
		why = whyHuge
	}
	return files, why, nil
}

func excludedByFiles(ctx context.Context, s *workspace.Scratch, files []file) (string, error) {
	sources, written := 0, 0
	for _, f := range files {
		if !f.source() {
			continue
		}
		sources++
		if vendored(f.path) {
			continue
		}
		b := f.after
		if b.oid == "" {
			b = f.before
		}
		text, err := s.Blob(ctx, b.oid)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", f.path, err)
		}
		if !generated(text) {
			written++
		}
	}
	switch {
	case sources == 0:
		return whyNoSource, nil
	case written == 0:
		return whyGenerated, nil
	}
	return "", nil
}

func vendored(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case "vendor", "node_modules", "third_party", "thirdparty", "dist":
			return true
		}
	}
	return strings.HasSuffix(name, ".min.js") || strings.HasSuffix(name, ".pb.go")
}

var generatedMark = pattern.New(`(?i)code generated .*do not edit|@generated|automatically generated|auto-generated`)

func generated(text []byte) bool {
	return generatedMark.Match(text[:min(len(text), 1024)]) || bytes.IndexByte(text[:min(len(text), 1024)], 0) >= 0
}
