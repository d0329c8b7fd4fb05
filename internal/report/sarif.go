package report

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
)

// sarifSchema is the address of the schema that [Report.SARIF] keeps to.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// nowhere stands for the repository as a whole in results that belong to no file:
// GitHub refuses a whole file for one result without a place.
const nowhere = ".github/ycbot.yml"

// SARIF renders r as a SARIF 2.1.0 log with one run: the findings and the failing
// checks are its results, why the verdict is not better and what was not covered
// its notifications. It is the same bytes for the same report.
// A report that [Parse] would not take is an error.
func (r *Report) SARIF() ([]byte, error) {
	n := r.normalised()
	if err := n.validate(); err != nil {
		return nil, fmt.Errorf("SARIF of report %s: %w", r.RunID, err)
	}
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "ycbot", Version: plain(n.Versions.Ycbot), InformationURI: homepage, Rules: sarifRules(),
		}},
		// What is before the last slash is the category by which GitHub distinguishes analyses.
		AutomationDetails: sarifAutomation{strings.Join([]string{"ycbot", plain(n.Repo), plain(n.HeadSHA)}, "/")},
		Provenance:        n.sarifProvenance(),
		Invocations:       []sarifInvocation{n.sarifInvocation()},
		Results:           n.sarifResults(),
		Properties: sarifRunProperties{
			Verdict: n.Verdict, Outcome: n.Outcome, Reasons: mapped(n.Reasons, plain), RunID: plain(n.RunID),
			HeadSHA: plain(n.HeadSHA), BaseSHA: plain(n.BaseSHA), MergeBase: plain(n.MergeBase), PullRequest: n.PR,
			Sandbox: n.tier(), Model: plain(n.Model), Reproduce: shown(n.Reproduce),
		},
	}
	return document("SARIF of report "+r.RunID, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

var ownerName = pattern.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// sarifProvenance names the head. The report knows no server, so that a repository
// of GitHub Enterprise is named as if it were on github.com, and a folder by a URN.
func (r *Report) sarifProvenance() []sarifRevision {
	if r.HeadSHA == "" {
		return nil
	}
	uri := "urn:x-ycbot:local:" + url.PathEscape(r.Repo)
	if ownerName.MatchString(r.Repo) {
		uri = "https://github.com/" + r.Repo
	}
	return []sarifRevision{{RepositoryURI: uri, RevisionID: plain(r.HeadSHA)}}
}

// sarifInvocation says how the run went. One without a verdict was no success,
// or no results would read as nothing found.
func (r *Report) sarifInvocation() sarifInvocation {
	inv := sarifInvocation{
		ExecutionSuccessful: r.Outcome == Completed && r.Verdict != Error,
		Notifications:       []sarifNotification{},
	}
	if at := r.Timings.Started; !at.IsZero() {
		inv.StartTimeUTC = at.UTC().Format(time.RFC3339)
		inv.EndTimeUTC = at.Add(time.Duration(r.Timings.DurationMS) * time.Millisecond).UTC().Format(time.RFC3339)
	}
	level := levelWarning
	if r.Verdict == Fail || r.Verdict == Error {
		level = levelError
	}
	for _, s := range r.Reasons {
		inv.Notifications = append(inv.Notifications, sarifNotification{level, sarifText(string(r.Verdict) + ": " + plain(s))})
	}
	for _, s := range r.NotCovered {
		inv.Notifications = append(inv.Notifications, sarifNotification{levelNote, sarifText("not covered: " + plain(s))})
	}
	return inv
}

func (r *Report) sarifResults() []sarifResult {
	out := []sarifResult{}
	seen := map[string]int{}
	add := func(rule string, res sarifResult, path, title string) {
		res.RuleID, res.RuleIndex = rule, sarifRuleIndex(rule)
		res.PartialFingerprints = sarifPrints(seen, rule, path, title)
		out = append(out, res)
	}
	for _, c := range r.Checks {
		if c.Result == ResultFail && !c.Advises() {
			add(checkRule(c.Kind), c.sarif(), "", c.Title)
		}
	}
	for _, f := range r.Findings {
		add(findingRule, f.sarif(), f.Path, f.Title)
	}
	return out
}

// sarifPrints distinguishes a result from others and knows it again in a later run:
// by its rule, file and title, and by a number where several have the same. Lines,
// outputs and evidence ids change from run to run and are left out. GitHub knows
// the first key alone.
func sarifPrints(seen map[string]int, rule, path, title string) map[string]string {
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(rule+"\x00"+path+"\x00"+plain(title))))
	seen[key]++
	key = fmt.Sprintf("%s:%d", key, seen[key])
	return map[string]string{"primaryLocationLineHash": key, "ycbotResult/v1": key}
}

func (c Check) sarif() sarifResult {
	level := levelWarning
	switch {
	case c.standing() == failed:
		level = levelError
	case c.Reproduction == PreExisting:
		level = levelNote
	}
	lines := []string{headline(c.Title), c.reproduced() + "; " + c.support()}
	if c.Expected != "" {
		lines = append(lines, "expected: "+headline(c.Expected))
	}
	lines = append(lines, outputEnds.excerpt(outputLines(c.Actual), c.spill())...)
	return sarifResult{
		Level: level, Message: sarifText(lines...), Locations: []sarifLocation{sarifPlace("", 0)},
		Properties: sarifResultProperties{
			CheckID: plain(c.ID), Kind: c.Kind, Support: c.Support, Reproduction: c.Reproduction,
			Evidence: mapped(c.Evidence, plain), Command: shown(c.Whole()),
		},
	}
}

func (f Finding) sarif() sarifResult {
	level := levelNote
	switch f.Severity {
	case SeverityError:
		level = levelError
	case SeverityWarning:
		level = levelWarning
	}
	lines := append([]string{headline(f.Title)}, detailEnds.excerpt(outputLines(f.Detail), "report.json")...)
	return sarifResult{
		Level: level, Message: sarifText(lines...), Locations: []sarifLocation{sarifPlace(f.Path, f.Line)},
		Properties: sarifResultProperties{Evidence: mapped(f.Evidence, plain), Command: shown(f.Repro)},
	}
}

// drive matches what begins an absolute path on Windows.
var drive = pattern.New(`^[A-Za-z]:[\\/]`)

// sarifPlace is where a result is. A path that leaves the repository is none.
func sarifPlace(path string, line int) sarifLocation {
	var l sarifLocation
	if path == "." || drive.MatchString(path) || strings.HasPrefix(path, `\`) || !fs.ValidPath(strings.ToValidUTF8(path, "\uFFFD")) {
		l.Physical.Artifact.URI = nowhere
		l.Message = &sarifMessage{"belongs to no file: " + nowhere + " stands for the repository"}
		return l
	}
	// A colon in its first part would make a scheme of it.
	l.Physical.Artifact.URI = strings.ReplaceAll((&url.URL{Path: path}).EscapedPath(), ":", "%3A")
	if line > 0 {
		l.Physical.Region = &sarifRegion{line}
	}
	return l
}

// headline is one line of untrusted text, a dash where there is none.
func headline(s string) string {
	if s = clip(plain(s), outputLine); s == "" {
		return "–"
	}
	return s
}

// shown is a command as it must be read, hidden characters visible.
func shown(command string) string { return strings.Join(commandLines(command), "\n") }

// sarifText makes a message of lines that are plain. In a message of SARIF
// "[text](target)" is a link; nothing untrusted may be one.
func sarifText(lines ...string) sarifMessage {
	return sarifMessage{strings.ReplaceAll(strings.Join(lines, "\n"), "](", `\](`)}
}
