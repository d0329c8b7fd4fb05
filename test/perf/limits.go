package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// notes say by what each row is limited, under a heading "## Row N".
//
//go:embed notes.md
var notes string

// explain writes what limits the rows that are not met, and what was done about
// all of them.
func explain(w io.Writer, figures []figure) {
	var missed []string
	for _, f := range figures {
		if !f.met {
			missed = append(missed, f.row)
		}
	}
	fmt.Fprint(w, "\n## What limits it\n")
	for section := range strings.SplitSeq("\n"+notes, "\n## ") {
		heading, text, _ := strings.Cut(section, "\n")
		row, ok := strings.CutPrefix(heading, "Row ")
		if ok && !slices.Contains(missed, row) || strings.TrimSpace(heading) == "" {
			continue
		}
		fmt.Fprintf(w, "\n### %s\n%s", heading, strings.TrimRight(text, "\n")+"\n")
	}
}

// floor says what the machine itself takes for what a run consists of, so that the
// figures can be read: the same run on a machine that is busy shows here, too.
func floor(ctx context.Context, l *lab) (string, error) {
	file, err := os.Create(filepath.Join(l.dir, "floor"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	page := make([]byte, 4096)
	parts := []struct {
		name string
		do   func() error
	}{
		{"append 4 KiB and fsync", func() error {
			if _, err := file.Write(page); err != nil {
				return err
			}
			return file.Sync()
		}},
		{"start `true`", func() error { return exec.CommandContext(ctx, "/bin/true").Run() }},
		{"start `git version`", func() error { return exec.CommandContext(ctx, "git", "version").Run() }},
		{"start `go env`", func() error { return exec.CommandContext(ctx, "go", "env", "GOROOT").Run() }},
		{"start `ycbot version`", func() error { return exec.CommandContext(ctx, l.binary, "version").Run() }},
	}
	took := make([][]time.Duration, len(parts))
	for range 4 * l.rounds {
		for i, p := range parts {
			began := time.Now()
			if err := p.do(); err != nil {
				return "", fmt.Errorf("%s: %w", p.name, err)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	var out []string
	for i, p := range parts {
		out = append(out, fmt.Sprintf("%s %.1f ms", p.name, ms(median(took[i]))))
	}
	return "\nThe machine in the same run: " + strings.Join(out, ", ") + ".\n", nil
}

// stages says when the stages of a run ended, counted from the start of the process,
// up to the first question of an agent.
func (r ran) stages() (string, error) {
	file, err := os.Open(filepath.Join(r.dir, "events.jsonl"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	var out []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Type string
			Time time.Time
			Step struct{ Stage string }
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return "", err
		}
		at := func(what string) { out = append(out, fmt.Sprintf("%s %.0f", what, ms(e.Time.Sub(r.began)))) }
		switch e.Type {
		case "run_start":
			at("run begins")
		case "stage_done":
			at(e.Step.Stage)
		case "iteration_start":
			at("question")
			return strings.Join(out, ", "), nil
		}
	}
	return strings.Join(out, ", "), lines.Err()
}
