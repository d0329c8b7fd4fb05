package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// same runs the scripts of cmd/ycbot with two programs and compares the reports
// that come of them: an older ycbot, and what these sources make. Behaviour is the
// same where each report says the same.
func same(ctx context.Context, l *lab, older string) error {
	older, err := filepath.Abs(older)
	if err != nil {
		return err
	}
	scripts := filepath.Join(l.dir, "scripts.test")
	if _, err := l.command(ctx, ".", "go", "test", "-c", "-o", scripts, "./cmd/ycbot"); err != nil {
		return err
	}
	var said [2]map[string]string
	for i, program := range []string{older, l.binary} {
		l.tell("scripts with %s", program)
		dir := filepath.Join(l.dir, fmt.Sprint("scripts-", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, scripts, "-test.run=^TestScript$", "-test.timeout=30m", "-program="+program, "-keep="+dir)
		cmd.Dir, cmd.Env = filepath.FromSlash("cmd/ycbot"), l.env
		// A script that fails, as where an older program lacks what it is about, still
		// leaves the reports that it came to.
		if out, err := cmd.CombinedOutput(); err != nil {
			l.tell("%v\n%s", err, failures(out))
		}
		if said[i], err = reports(dir); err != nil {
			return err
		}
	}
	return l.compare(said[0], said[1])
}

func (l *lab) compare(before, after map[string]string) error {
	differ := 0
	for name, want := range before {
		if got, ok := after[name]; ok && got != want {
			differ++
			l.tell("%s differs\nbefore %s\nafter  %s", name, want, got)
		}
	}
	if len(before) != len(after) {
		l.tell("%d reports before, %d after", len(before), len(after))
		differ++
	}
	if differ > 0 {
		return errors.New("the programs do not report the same")
	}
	fmt.Printf("%d reports are the same\n", len(before))
	return nil
}

// failures are the lines that tell which scripts failed.
func failures(out []byte) []byte {
	var lines [][]byte
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte("--- FAIL")) || bytes.HasPrefix(bytes.TrimSpace(line), []byte("FAIL")) {
			lines = append(lines, line)
		}
	}
	return bytes.Join(lines, nil)
}

// reports are what the reports below dir say, by their place and, in one place, in
// the order in which their runs began.
func reports(dir string) (map[string]string, error) {
	type found struct{ place, began, words string }
	var all []found
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "report.json" {
			return nil //nolint:nilerr // what commands made unreadable holds no report
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var r struct {
			RunID                                                 string `json:"run_id"`
			Verdict, Reasons, Checks, Findings, Denied, Subagents any
			NotCovered                                            any `json:"not_covered"`
		}
		if json.Unmarshal(data, &r) != nil {
			return nil // a script's own, made to be refused
		}
		words, err := json.Marshal(r)
		if err != nil {
			return err
		}
		place, err := filepath.Rel(dir, name)
		all = append(all, found{strings.ReplaceAll(place, r.RunID, "RUN"), r.RunID, passing.ReplaceAllString(strings.ReplaceAll(string(words), dir, "DIR"), "*")})
		return err
	})
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.began, b.began)) })
	out := map[string]string{}
	for _, f := range all {
		n := 1
		for out[fmt.Sprint(f.place, " ", n)] != "" {
			n++
		}
		out[fmt.Sprint(f.place, " ", n)] = f.words
	}
	return out, err
}

// passing is what is another in each run: ids, times, and how long something took.
var passing = regexp.MustCompile(`\d{8}T\d{6}Z-[0-9a-f]{8}|[0-9a-f]{16,}|"[a-z_]*duration_ms":\d+|(?:duration=|in )?\d+(?:\.\d+)? ?m?s\b|/tmp/\S+`)
