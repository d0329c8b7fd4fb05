package run

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
)

// A Checked is what a finished run directory was found to be.
type Checked struct {
	Report   *report.Report // as it stands in the directory; nil where it cannot be read
	Digest   string         // of SHA256SUMS, hex
	Records  int            // of the evidence log
	Problems []string       // what is not as the run left it, or does not follow from its log; none: intact
}

// Check looks whether a finished run directory is what a run left there, and
// whether its report follows from what is recorded. It needs neither model nor
// network and writes nothing. expect is the digest that is known from elsewhere,
// "" for none: without it, a directory that was made up as a whole passes.
func Check(dir, expect string) (Checked, error) {
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		return Checked{}, fmt.Errorf("%s is no finished run: %w", dir, err)
	}
	c := Checked{Digest: digest(string(sums))}
	if expect != "" && !strings.EqualFold(expect, c.Digest) {
		c.problem("SHA256SUMS has the digest %s, and %s is expected", c.Digest, expect)
	}
	c.files(dir, sums)
	if c.Report, err = readReport(dir); err != nil {
		c.problem("report.json: %v", err)
		return c, nil
	}
	records, err := evidence.ReadVerified(dir, c.Report.RunID)
	if err != nil {
		c.problem("%v", err)
	}
	c.Records = len(records)
	c.follows(dir, records)
	return c, nil
}

func (c *Checked) problem(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

// files holds every file against SHA256SUMS.
func (c *Checked) files(dir string, sums []byte) {
	want := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(sums))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || !filepath.IsLocal(name) {
			c.problem("SHA256SUMS: %q is no line of it", lines.Text())
			continue
		}
		want[name] = sum
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == filepath.Join(dir, "SHA256SUMS") {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		sum, known := want[name]
		delete(want, name)
		switch {
		case !known:
			c.problem("%s: the run did not write it", name)
		case !d.Type().IsRegular():
			c.problem("%s: no regular file", name)
		default:
			if have, err := fileSum(path); err != nil || have != sum {
				c.problem("%s: not what the run wrote", name)
			}
		}
		return nil
	})
	if err != nil {
		c.problem("%v", err)
	}
	for name := range want {
		c.problem("%s: missing", name)
	}
	slices.Sort(c.Problems)
}

// follows makes the report anew from the journal and the evidence and compares.
func (c *Checked) follows(dir string, records []evidence.Record) {
	j, err := journal.Read(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		c.problem("%v", err)
		return
	}
	s := &session{Runner: &Runner{}, dir: dir, journal: j, read: records}
	k, err := s.recall()
	if err != nil {
		c.problem("%v", err)
		return
	}
	if s.id != c.Report.RunID {
		c.problem("report.json is of run %s, the journal of run %s", c.Report.RunID, s.id)
	}
	c.carried(k, records)
	finished := k.gate != nil && (k.judged != nil || !s.around.Model || c.Report.Outcome == report.Refused)
	if !finished {
		if v := c.Report.Verdict; v == report.Pass {
			c.problem("verdict %s: the journal has no finished run", v)
		}
		return
	}
	again := s.facts()
	again.Outcome = c.Report.Outcome
	if again.Outcome != report.Completed && again.Outcome != report.Refused {
		return // what was broken off has no verdict to recompute
	}
	s.conclude(again, k.gate, nil, nil)
	s.concludeAgents(again, k.gate, k.judged, nil)
	c.compare(again)
}

// carried looks for each step of the gate in the evidence.
func (c *Checked) carried(k kept, records []evidence.Record) {
	if k.gate == nil {
		return
	}
	byID := map[string]evidence.Record{}
	for _, r := range records {
		byID[r.ID] = r
	}
	for _, step := range k.gate.Steps {
		if step.Evidence == "" {
			continue
		}
		switch r, ok := byID[step.Evidence]; {
		case !ok:
			c.problem("%s %s: its evidence %s is not in the log", step.Side, step.Command, step.Evidence)
		case r.Exit != step.Exit || !r.Executed:
			c.problem("%s %s: the log says exit %d, the journal exit %d", step.Side, step.Command, r.Exit, step.Exit)
		}
	}
}

// compare names what the report says otherwise than what was made anew. Both
// have been through JSON, which fills in what was left open.
func (c *Checked) compare(made *report.Report) {
	js, err := made.JSON()
	if err != nil {
		c.problem("%v", err)
		return
	}
	again, err := report.Parse(js)
	if err != nil {
		c.problem("%v", err)
		return
	}
	have := c.Report
	for _, part := range []struct {
		name        string
		have, again any
	}{
		{"verdict", have.Verdict, again.Verdict},
		{"reasons", have.Reasons, again.Reasons},
		{"checks", have.Checks, again.Checks},
		{"findings", have.Findings, again.Findings},
		{"not_covered", have.NotCovered, again.NotCovered},
		{"denied", have.Denied, again.Denied},
		{"head_sha", have.HeadSHA, again.HeadSHA},
		{"base_sha", have.BaseSHA, again.BaseSHA},
		{"repo", have.Repo, again.Repo},
		{"pr", have.PR, again.PR},
		{"trust", have.Trust, again.Trust},
	} {
		if !reflect.DeepEqual(part.have, part.again) {
			c.problem("report.json: %s is not what follows from the log", part.name)
		}
	}
}
