package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/workspace"
)

// judge holds what agents claim against the log, runs what they say fails again,
// and collects what the report says of them. Without rerun nothing is run again.
func (h *host) judge(ctx context.Context, owing []agent.Result, noRerun bool) (*judgement, error) {
	j := &judgement{}
	for _, res := range owing {
		outcome, err := h.outcome(ctx, res, noRerun)
		if err != nil {
			return nil, err
		}
		j.Agents = append(j.Agents, outcome)
	}
	for _, rec := range slices.Backward(h.runner.List()) {
		j.Results = append(j.Results, rec.Result)
		for _, d := range rec.Result.Denied {
			j.Denied = append(j.Denied, report.Denial{Agent: rec.Agent, Tool: d.Tool, Target: d.Target, Code: d.Code, Rule: d.Rule, Reason: d.Hint})
		}
	}
	j.Usage, j.CostUSD, j.CostOK = h.runner.Budget.Used()
	return j, nil
}

// outcome is what one agent's reply comes to.
func (h *host) outcome(ctx context.Context, res agent.Result, noRerun bool) (report.AgentOutcome, error) {
	said := report.ParseAgentReport(res.Text)
	out := report.AgentOutcome{
		Agent: res.Agent, Outcome: string(res.Outcome), Cause: res.Reason, Verdict: said.Verdict, Form: said.Form, Denied: len(res.Denied),
	}
	h.mu.Lock()
	st := h.seats[res.ID]
	h.mu.Unlock()
	if st != nil {
		st.mu.Lock()
		out.Tripwire = slices.Compact(slices.Sorted(slices.Values(st.changed)))
		st.mu.Unlock()
	}
	records := h.log.Records()
	for _, r := range records {
		if r.Task == res.ID && r.Executed && r.Exit != 0 {
			out.Failed++
		}
	}
	audited, err := h.auditor(res, records).Audit(said.Checks)
	if err != nil {
		return out, err
	}
	for i, c := range said.Checks {
		k := judged(c, audited[i])
		if k.Result == report.ResultFail && k.Support == report.Supported && !noRerun && st != nil && st.tree != nil {
			if k.Reproduction, err = h.reproduce(ctx, st, c, audited[i]); err != nil {
				return out, fmt.Errorf("run check %q again: %w", c.Title, err)
			}
		}
		out.Checks = append(out.Checks, k)
	}
	return out, nil
}

// auditor matches the claims of one agent.
func (h *host) auditor(res agent.Result, records []evidence.Record) evidence.Auditor {
	return evidence.Auditor{
		Log: records, Agent: res.Agent, Task: res.ID, Tree: h.head.OID,
		Elsewhere: []string{h.base.Dir, "$YCBOT_BASE", "${YCBOT_BASE}"},
		Output: func(r evidence.Record) (stdout, stderr []byte, err error) {
			if stdout, err = evidence.ReadOutput(h.dir, r.Stdout); err != nil {
				return nil, nil, err
			}
			stderr, err = evidence.ReadOutput(h.dir, r.Stderr)
			return stdout, stderr, err
		},
	}
}

// judged is a check as the report has it.
func judged(c report.AgentCheck, a evidence.Audited) report.JudgedCheck {
	k := report.JudgedCheck{Adversarial: c.Adversarial, Reason: a.Reason}
	k.Check = report.Check{
		Title: c.Title, Kind: report.KindAgent, Result: c.Result, Command: strings.Join(c.Commands, "\n"),
		Evidence: a.Records, Support: a.Support, Reproduction: report.NotRun, Expected: c.Expected, Actual: c.Output,
	}
	if a.Support == report.Absent {
		k.Actual = "" // what is not in the log is struck out
	}
	if a.Reason != "" {
		k.Actual = joinLines("ycbot: "+a.Reason, k.Actual)
	}
	return k
}

// reproduce runs the command of a failing check again, in fresh copies of both
// prepared snapshots and with the agent's scratch files, and tells what that shows.
func (h *host) reproduce(ctx context.Context, st *seat, c report.AgentCheck, a evidence.Audited) (report.Reproduction, error) {
	if len(a.Records) == 0 {
		return report.NotRun, nil
	}
	first, ok := h.log.Record(a.Records[len(a.Records)-1])
	if !ok || !first.Executed {
		return report.NotRun, nil
	}
	head, err := h.again(ctx, st, first, h.head, "rerun/head")
	if err != nil {
		return report.NotRun, err
	}
	if !h.alike(first, head) {
		return report.NotReproduced, nil
	}
	base, err := h.again(ctx, st, first, h.base, "rerun/base")
	switch {
	case err != nil:
		return report.NotRun, err
	case base.Exit == 127 || base.Exit == 126:
		return report.HeadOnly, nil
	case !h.alike(first, base):
		return report.Introduced, nil
	case h.promised(c):
		return report.Unfulfilled, nil
	default:
		return report.PreExisting, nil
	}
}

// again runs a recorded command in a fresh copy of a prepared snapshot. The copy
// lies where the agent's tree is named in the command, as far as that is text.
func (h *host) again(ctx context.Context, st *seat, r evidence.Record, of *workspace.Tree, task string) (evidence.Record, error) {
	dir := filepath.Join(h.trees, "again", fmt.Sprintf("%s-%s", r.ID, filepath.Base(task)))
	tree, err := of.Copy(ctx, dir)
	if err != nil {
		return evidence.Record{}, err
	}
	defer tree.Close() //nolint:errcheck // the sweeper removes what is left
	home, temp := dir+"-home", filepath.Join(h.Home, "tmp", "r-"+first8(h.id+r.ID+task))
	defer os.RemoveAll(temp) //nolint:errcheck // the next run of this name begins with removing it
	if err := errors.Join(os.RemoveAll(temp), copyScratch(st.temp, temp)); err != nil {
		return evidence.Record{}, err
	}
	x := evidence.Execution{Agent: "host", Task: task, Command: r.Command, Root: tree.Dir, Cwd: r.Cwd, Tree: tree.OID}
	if x.Run, err = h.template(ctx, tree, home, temp); err != nil {
		return evidence.Record{}, err
	}
	moved := strings.NewReplacer(st.tree.Dir, tree.Dir, st.home, home, st.temp, temp).Replace(r.Command)
	x.Run.Argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", moved}
	x.Run.Timeout = rerunTime
	rec, _, err := h.log.Run(ctx, h.Sandbox, x)
	return rec, err
}

// first8 is a short name for a longer one.
func first8(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

// rerunTime is how long a command may take when it is run again.
const rerunTime = 5 * time.Minute

// copyScratch copies an agent's scratch files, so that one run of a check does
// not see what another one wrote. Links and special files stay behind.
func copyScratch(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what its owner made unreadable cannot travel
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := root.ReadFile(name)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		return os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm()|0o600)
	})
}

// alike says whether two runs of a command came to the same: both failed, or
// both printed the same.
func (h *host) alike(a, b evidence.Record) bool {
	if a.TimedOut || b.TimedOut {
		return a.TimedOut == b.TimedOut
	}
	if a.Exit != 0 {
		return b.Exit != 0
	}
	return b.Exit == 0 && h.printed(a) == h.printed(b)
}

// passing differs from run to run and says nothing: times, addresses, folders, ports.
var passing = regexp.MustCompile(`\d+(\.\d+)?(ns|µs|us|ms|s|m)\b|0x[0-9a-f]+|/\S*/(worktrees|scratch|tmp)/\S*|127\.0\.0\.1:\d+|localhost:\d+|\[::1\]:\d+|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\d\d:\d\d:\d\d(\.\d+)?`)

func (h *host) printed(r evidence.Record) string {
	out, err := evidence.ReadOutput(h.dir, r.Stdout)
	if err != nil {
		return r.Stdout.SHA256
	}
	return passing.ReplaceAllString(string(out), "_")
}

// promised says whether a check quotes a sentence of the task, so that what
// fails on both sides is what the change was to mend.
func (h *host) promised(c report.AgentCheck) bool {
	task := fold(h.job.Task)
	for _, k := range h.src.Commits {
		task += " " + fold(k.Subject+" "+k.Body)
	}
	text := fold(c.Expected + " " + c.Remark + " " + c.Title)
	for _, q := range quotedText.FindAllStringSubmatch(text, -1) {
		if quote := strings.TrimSpace(q[1] + q[2]); len(strings.Fields(quote)) >= 3 && strings.Contains(task, quote) {
			return true
		}
	}
	return false
}

var quotedText = regexp.MustCompile("\"([^\"]+)\"|“([^”]+)”")

// fold makes a text comparable: one case, single spaces.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
