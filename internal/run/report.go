package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// report concludes: it turns what the stages found into the report. stop is the context whose end may have broken the run off; result is nil
// and failure set where the gate did not get to one.
func (s *session) report(stop context.Context, result *gate.Result, judged *judgement, failure, agentsFailure error) (*report.Report, error) {
	if result == nil {
		result = &gate.Result{}
	}
	rep := s.facts()
	rep.Outcome = outcome(stop, errors.Join(failure, agentsFailure))
	if rep.Outcome == report.Completed && s.around.refused() != "" {
		rep.Outcome = report.Refused
	}
	s.conclude(rep, result, context.Cause(stop), failure)
	s.concludeAgents(rep, result, judged, agentsFailure)
	s.concludeRevisit(rep, s.last)
	if err := s.writeTranscripts(rep); err != nil {
		return nil, err
	}
	rep.Timings.DurationMS = s.Now().Sub(s.began).Milliseconds()
	rep.Title = rep.MakeTitle()
	return rep, nil
}

// outcome says how the run ended.
func outcome(stop context.Context, failure error) report.Outcome {
	var limit *timeLimit
	switch cause := context.Cause(stop); {
	case errors.As(cause, &limit) && failure != nil:
		return report.TimedOut
	case cause != nil && failure != nil:
		return report.Cancelled
	case failure != nil:
		return report.Errored
	default:
		return report.Completed
	}
}

// conclude fills in verdict and reasons, checks and findings.
func (s *session) conclude(rep *report.Report, result *gate.Result, cause, failure error) {
	b := &builder{result: result}
	b.build()
	rep.Expectations, rep.Statistics, rep.Believed = b.expectations(), b.statistics(), b.belief()
	rep.Executed = b.executed()
	result, rep.Accepted = heed(result, rep.Expectations, s.around.Accepted)
	rep.Verdict, rep.Reasons = report.Verdict(result.Verdict), result.Reasons
	switch rep.Outcome {
	case report.Cancelled:
		rep.Verdict = report.Error
		rep.Reasons = append([]string{"cancelled before there was a verdict: " + cancelWord(cause)}, notUnfinished(result.Reasons)...)
	case report.TimedOut:
		rep.Reasons = append(notUnfinished(rep.Reasons), "not finished: "+cause.Error())
		rep.Verdict = report.Worst(rep.Verdict, report.Partial)
		if len(result.Steps) == 0 {
			rep.Verdict = report.Error
		}
	case report.Errored:
		if failure != nil {
			rep.Verdict, rep.Reasons = report.Error, []string{"could not verify: " + failure.Error()}
		}
	case report.Completed, report.Refused:
	}
	rep.Checks, rep.Findings, rep.Tests = b.checks, b.findings, b.tests()
	rep.Findings = append(rep.Findings, s.src.Hidden...)
	rep.NotCovered = append(rep.NotCovered, result.NotCovered...)
	rep.Notes = append(rep.Notes, result.Notes...)
	rep.Versions.Toolchains = result.Toolchains
	if k := result.Cached; k != nil {
		rep.Timings.Cached = []string{fmt.Sprintf("the base's tests: %d results of %s, which took %s", k.Tests, k.When.Format(time.DateTime), k.Saved.Round(100*time.Millisecond))}
	}
}

// notUnfinished leaves out that the gate did not finish, which the caller says better.
func notUnfinished(reasons []string) []string {
	return slices.DeleteFunc(slices.Clone(reasons), func(r string) bool { return strings.HasPrefix(r, "not finished: ") })
}

func cancelWord(cause error) string {
	if cause == nil || errors.Is(cause, context.Canceled) {
		return "it was stopped from outside"
	}
	return cause.Error()
}

// facts fills in what does not depend on what was found.
func (s *session) facts() *report.Report {
	rep := &report.Report{
		Schema: report.Schema, RunID: s.id, Trigger: s.around.Trigger, Actor: s.around.Actor, Trust: s.around.Trust,
		Sandbox: sandboxFacts(s.around.Sandbox), Notes: s.src.Notes,
		Timings:   report.Timings{Started: s.began.UTC(), Stages: s.stages},
		Versions:  s.around.Versions,
		ReportDir: s.dir,
	}
	rep.FromChange(s.src.Change)
	for _, r := range s.records() {
		if r.Executed {
			rep.Usage.Commands++
		}
	}
	if s.around.First {
		rep.Phase = report.PhaseFirst
	}
	zero := 0.0
	rep.Usage.CostUSD = &zero
	if !s.around.Model {
		rep.NotCovered = []string{"what no test or probe exercises: no model looked at the change"}
	}
	rep.Reproduce = s.reproduce()
	if s.around.Network == NetworkFull {
		rep.Notes = append(rep.Notes, "all commands of the change could use the network (--network full)")
	}
	return rep
}

// reproduce is the command that verifies the same range again.
func (s *session) reproduce() string {
	c := s.src.Change
	if c.PR != 0 {
		return fmt.Sprintf("ycbot run --pr %d --repo %s --head %s", c.PR, c.Repo, c.HeadSHA)
	}
	cmd := "ycbot run --base " + c.BaseSHA + " --head " + c.HeadSHA
	if c.Dirty {
		cmd = "ycbot run --dirty --base " + c.BaseSHA
	}
	if s.around.Config != "" {
		cmd += " --config " + quote(s.around.Config)
	}
	return cmd
}

func quote(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func sandboxFacts(st sandbox.Status) report.Sandbox {
	out := report.Sandbox{Tier: string(st.Tier), Layers: st.Layers, Missing: st.Missing}
	for _, c := range st.SelfTest {
		out.SelfTest = append(out.SelfTest, report.Canary(c))
	}
	return out
}

// writeReport writes the report in all its forms.
func (s *session) writeReport(rep *report.Report) error {
	js, err := rep.JSON()
	if err != nil {
		return err
	}
	sarif, err := rep.SARIF()
	if err != nil {
		return err
	}
	junit, err := rep.JUnit()
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{"report.json", js}, {"report.md", []byte(rep.Markdown())}, {"report.sarif", sarif}, {"junit.xml", junit}} {
		if err := s.write(f.name, f.data); err != nil {
			return err
		}
	}
	return s.writeStatement(rep)
}

// writeStatement writes what the run states about the head, with the digests of
// what that rests on. Without a head there is nothing to state.
func (s *session) writeStatement(rep *report.Report) error {
	digests := map[string]string{}
	for _, name := range []string{"report.json", "evidence.jsonl"} {
		sum, err := fileSum(filepath.Join(s.dir, name))
		if err != nil {
			return err
		}
		digests[name] = sum
	}
	if s.configSum != "" {
		digests[s.configName()] = s.configSum
	}
	statement, err := rep.InToto(digests, "")
	if errors.Is(err, report.ErrNoHead) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.write("statement.intoto.json", statement)
}

// configName is what the configuration is called in a statement.
func (s *session) configName() string {
	if s.around.Config == "" {
		return configFile
	}
	return filepath.Base(s.around.Config)
}

// seal writes the report and ends the run: nothing is written to its directory after SHA256SUMS, which
// "sha256sum -c" reads.
func (s *session) seal(rep *report.Report) error {
	rep.ReportDir = s.dir
	if err := s.writeReport(rep); err != nil {
		return err
	}
	s.tell(agent.Event{Type: agent.EventRunDone, Text: string(rep.Verdict), Reason: string(rep.Outcome)})
	if err := s.failed(); err != nil {
		return err
	}
	var lines []string
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == filepath.Join(s.dir, "SHA256SUMS") || path == filepath.Join(s.dir, sumsDraft) {
			return err
		}
		sum, err := fileSum(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		lines = append(lines, sum+"  "+filepath.ToSlash(rel)+"\n")
		return nil
	})
	if err != nil {
		return fmt.Errorf("SHA256SUMS: %w", err)
	}
	// It says that the run is finished, so it is there as a whole or not at all.
	if err := s.write(sumsDraft, []byte(strings.Join(lines, ""))); err != nil {
		return err
	}
	return os.Rename(filepath.Join(s.dir, sumsDraft), filepath.Join(s.dir, "SHA256SUMS"))
}

// sumsDraft is SHA256SUMS while it is written.
const sumsDraft = ".SHA256SUMS"

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
