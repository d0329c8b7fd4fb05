package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/internal/report"
)

// scenarios makes of each folder NAME.model of a script, whose files are what
// agents say, the scenario NAME.
func scenarios(work string) error {
	dirs, err := filepath.Glob(filepath.Join(work, "*.model"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		var ar txtar.Archive
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			data, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return err
			}
			ar.Files = append(ar.Files, txtar.File{Name: f.Name(), Data: data})
		}
		if err := os.WriteFile(strings.TrimSuffix(dir, ".model"), txtar.Format(&ar), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// conclusion DIR prints what a run came to, without what differs from run to
// run and without the gate's own checks.
func conclusion(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: conclusion DIR")
	}
	var rep report.Report
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0]+"/report.json")), &rep))
	rep.Checks = slices.DeleteFunc(rep.Checks, func(c report.Check) bool { return c.Kind != report.KindAgent })
	_, err := ts.Stdout().Write(concluded(&rep))
	ts.Check(err)
}

// concluded is what two runs of the same change and the same model have in common.
func concluded(rep *report.Report) []byte {
	var b bytes.Buffer
	list := func(name string, all []string) {
		for _, s := range all {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.ReplaceAll(s, "\n", "\n\t"))
		}
	}
	fmt.Fprintf(&b, "verdict: %s (%s)\n", rep.Verdict, rep.Outcome)
	list("reason", rep.Reasons)
	for _, c := range rep.Checks {
		fmt.Fprintf(&b, "check: %s: %s %s %s\n", c.Title, c.Result, c.Support, c.Reproduction)
	}
	for _, f := range rep.Findings {
		fmt.Fprintf(&b, "finding: %s %s: %s\n", f.Severity, f.Path, f.Title)
	}
	for _, d := range rep.Denied {
		fmt.Fprintf(&b, "denied: %s %s %s: %s\n", d.Agent, d.Tool, d.Target, d.Code)
	}
	for _, s := range rep.Subagents {
		fmt.Fprintf(&b, "subagent: %s model=%s %s %s verdict=%s iterations=%d calls=%d tokens=%d %s\n",
			s.Agent, s.Model, s.Status, s.Outcome, s.Verdict, s.Iterations, s.ToolCalls, s.Tokens, s.Isolation)
	}
	cost := "?"
	if rep.Usage.CostUSD != nil {
		cost = fmt.Sprintf("$%.2f", *rep.Usage.CostUSD)
	}
	fmt.Fprintf(&b, "model: %s\n", rep.Model)
	fmt.Fprintf(&b, "usage: in=%d out=%d cached=%d cost=%s\n", rep.Usage.InputTokens, rep.Usage.OutputTokens, rep.Usage.CachedTokens, cost)
	return b.Bytes()
}
