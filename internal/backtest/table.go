package backtest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sorted"
)

// notesFile is where people write what they found out about cases, in the folder of a
// backtest: one [Note] a line.
const notesFile = "notes.jsonl"

// A Note is what a person found out about a case.
type Note struct {
	Case    string `json:"case"`
	Cause   string `json:"cause"`   // why ycbot was wrong, or why the case is no case
	Exclude bool   `json:"exclude"` // it is left out of the first column; it stays an error in the second
}

// A Summary is the table of a backtest. The names of its fields are printed: do not
// change them.
type Summary struct {
	Seed       uint64         `json:"seed"`
	Ycbot      []string       `json:"ycbot"` // versions that gave the verdicts
	Repos      int            `json:"repos"` // with at least one verdict
	First      int            `json:"first"` // cases that were judged by their first verdict
	Arms       []ArmSummary   `json:"arms"`
	Operators  []ArmSummary   `json:"operators"` // the same of each operator of the bad arms
	Wrong      []WrongCase    `json:"wrong"`
	Cost       Cost           `json:"cost"`
	Behaviour  []ArmBehaviour `json:"behaviour"` // of each arm and operator of a bad one, where runs were whole
	Given      []ClassCount   `json:"given"`     // good and honest changes that give up expectations, by class
	Outside    *OutsideCount  `json:"outside"`   // good changes, had they been untrusted; null: not known
	Excluded   []CauseCount   `json:"excluded"`  // changes that gave no case, by arm and cause
	Unselected map[string]int `json:"unselected"`
	Waiting    int            `json:"waiting"` // cases without a line yet, at most
}

// An ArmSummary counts the verdicts of an arm.
type ArmSummary struct {
	Name          string  `json:"name"`
	Cases         int     `json:"cases"`
	Pass          int     `json:"pass"`
	Fail          int     `json:"fail"`
	Partial       int     `json:"partial"`
	Error         int     `json:"error"`
	Named         int     `json:"named"` // of Pass: PASS of a tampered change that names each expectation that was given up
	Wrong         int     `json:"wrong"` // FAIL of a good change, PASS of a bad one but for these
	Rate          float64 `json:"rate"`
	Low           float64 `json:"low"` // of the exact 95 % interval
	High          float64 `json:"high"`
	ExcludedAfter int     `json:"excluded_after"`
	WithExcluded  Rate    `json:"with_excluded"` // where each of these counts as wrong
	LargestShare  float64 `json:"largest_share"` // of one repository among the cases
}

// A Rate is a rate with its exact 95 % interval.
type Rate struct {
	Rate float64 `json:"rate"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A WrongCase is one that ycbot judged wrongly, or did not judge.
type WrongCase struct {
	Case    string `json:"case"`
	Arm     Arm    `json:"arm"`
	By      string `json:"operator"`
	Verdict string `json:"verdict"`
	Cause   string `json:"cause"`
	After   bool   `json:"excluded_after"`
}

// A ClassCount says how many good and honest changes give up expectations of a class.
type ClassCount struct {
	Class string  `json:"class"` // as in report.json
	Cases int     `json:"cases"`
	Rate  float64 `json:"rate"` // of the judged good and honest changes
	Low   float64 `json:"low"`  // of the exact 95 % interval
	High  float64 `json:"high"`
}

// An OutsideCount says what becomes of good changes where no maintainer answers for them.
type OutsideCount struct {
	Cases  int          `json:"cases"` // of which it is known
	Pass   int          `json:"pass"`
	Worse  []ClassCount `json:"worse"`  // causes of a worse verdict than a maintainer's change has
	Others int          `json:"others"` // cases that are not PASS for a maintainer, either
}

// An ArmBehaviour says in how many changes the comparison of behaviour shows a difference,
// of those that were judged by whole runs.
type ArmBehaviour struct {
	Name   string  `json:"name"`
	Cases  int     `json:"cases"`
	Shows  int     `json:"shows"`  // with a difference that no test expects
	Folded int     `json:"folded"` // only with differences that tests expect
	Rate   float64 `json:"rate"`   // of Shows, with its exact 95 % interval
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Median float64 `json:"median"` // of the differences that no test expects
	Most   int     `json:"most"`
}

// A CauseCount says how often a cause kept a change from being a case of an arm.
type CauseCount struct {
	Arm   Arm    `json:"arm"`
	Cause string `json:"cause"`
	Cases int    `json:"cases"`
}

// A Cost is what runs took, in medians over the cases.
type Cost struct {
	Seconds    float64 `json:"seconds"`     // of a run
	Slowest    float64 `json:"slowest"`     // of a run, the longest
	Plain      float64 `json:"plain"`       // of the plain suite
	WallTimes  float64 `json:"wall_times"`  // a run's seconds by the plain suite's
	CPUTimes   float64 `json:"cpu_times"`   // the same of processor seconds, where they were measured
	PlainOver1 float64 `json:"plain_over1"` // share of the good changes whose plain suite takes over a minute
	PlainOver5 int     `json:"plain_over5"` // good changes whose plain suite takes over five minutes
}

// named says whether a tampered change has a PASS that names each deciding test as an
// expectation that was given up: a person decides.
func named(l Line) bool {
	return l.Arm == Tampered && l.Named && l.Verdict == string(report.Pass)
}

// wrong says whether a verdict is wrong: a good change that fails, a bad one that passes
// and is not [named].
func wrong(l Line) bool {
	if named(l) {
		return false
	}
	if l.Arm.bad() {
		return l.Verdict == string(report.Pass)
	}
	return l.Verdict == string(report.Fail)
}

// right says whether a verdict is what the case deserves.
func right(l Line) bool {
	if named(l) {
		return true
	}
	if l.Arm.bad() {
		return l.Verdict == string(report.Fail)
	}
	return l.Verdict == string(report.Pass)
}

// ReadNotes reads what people wrote about the cases of a backtest.
func ReadNotes(dir string) (map[string]Note, error) {
	out := map[string]Note{}
	f, err := os.Open(filepath.Join(dir, notesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var note Note
		if err := json.Unmarshal(lines.Bytes(), &note); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", f.Name(), n, err)
		}
		out[note.Case] = note
	}
	return out, lines.Err()
}

// Load summarizes the backtest in the folder dir.
func Load(dir string) (*Summary, error) {
	plan, err := ReadPlan(dir)
	if err != nil {
		return nil, err
	}
	lines, err := ReadResults(filepath.Join(dir, resultsFile))
	if err != nil {
		return nil, err
	}
	notes, err := ReadNotes(dir)
	if err != nil {
		return nil, err
	}
	return Summarize(plan, lines, notes), nil
}

// Summarize counts results. Of a case with several lines the last counts.
func Summarize(plan *Plan, lines []Line, notes map[string]Note) *Summary {
	last := map[string]int{}
	for i, l := range lines {
		last[l.Case] = i
	}
	s := &Summary{Seed: plan.Seed, Unselected: map[string]int{}}
	planned := 0
	excluded := map[CauseCount]int{}
	for _, r := range plan.Repos {
		planned += len(r.Changes) * len(plan.Arms)
		if r.Unusable != "" {
			excluded[CauseCount{Arm: "all", Cause: whyUnread}]++
		}
		for why, n := range r.Excluded {
			s.Unselected[why] += n
		}
	}
	var judged []Line
	repos := map[string]bool{}
	for i, l := range lines {
		if last[l.Case] != i {
			continue
		}
		if l.Arm != Honest {
			planned--
		}
		if l.Excluded != "" {
			excluded[CauseCount{Arm: l.Arm, Cause: l.Excluded}]++
			continue
		}
		judged = append(judged, l)
		repos[l.Repo] = true
		if l.First {
			s.First++
		}
		if !slices.Contains(s.Ycbot, l.Ycbot) {
			s.Ycbot = append(s.Ycbot, l.Ycbot)
		}
	}
	if slices.Contains(plan.Arms, Honest) {
		for _, r := range plan.Repos {
			planned -= len(r.Changes)
		}
	}
	s.Repos, s.Waiting = len(repos), max(0, planned)
	s.countArms(judged, notes)
	s.countGiven(judged, notes)
	s.countOutside(judged, notes)
	s.countBehaviour(judged, notes)
	s.Cost = costOf(judged)
	for c, n := range excluded {
		c.Cases = n
		s.Excluded = append(s.Excluded, c)
	}
	sorted.By(s.Excluded, func(a, b CauseCount) int {
		return cmp.Or(cmp.Compare(a.Arm, b.Arm), cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.Cause, b.Cause))
	})
	return s
}

// countGiven counts the good and honest changes that give up expectations.
func (s *Summary) countGiven(judged []Line, notes map[string]Note) {
	cases, classes := 0, map[string]int{}
	for _, l := range judged {
		if l.Arm.bad() || notes[l.Case].Exclude {
			continue
		}
		cases++
		for class := range l.Given {
			classes[class]++
		}
	}
	for _, class := range sortedKeys(classes) {
		r := rateOf(classes[class], cases)
		s.Given = append(s.Given, ClassCount{class, classes[class], r.Rate, r.Low, r.High})
	}
}

// countOutside counts what becomes of good changes from outside.
func (s *Summary) countOutside(judged []Line, notes map[string]Note) {
	var out OutsideCount
	causes := map[string]int{}
	for _, l := range judged {
		if l.Arm != Good || l.Outside == "" || notes[l.Case].Exclude {
			continue
		}
		out.Cases++
		switch {
		case l.Verdict != string(report.Pass):
			out.Others++
		case l.Outside == string(report.Pass):
			out.Pass++
		default:
			for _, cause := range l.OutsideFor {
				causes[cause]++
			}
		}
	}
	if out.Cases == 0 {
		return
	}
	for _, cause := range sortedKeys(causes) {
		r := rateOf(causes[cause], out.Cases)
		out.Worse = append(out.Worse, ClassCount{cause, causes[cause], r.Rate, r.Low, r.High})
	}
	s.Outside = &out
}

func (s *Summary) countArms(judged []Line, notes map[string]Note) {
	for _, arm := range Arms() {
		var mine []Line
		operators := map[string][]Line{}
		for _, l := range judged {
			if l.Arm == arm {
				mine = append(mine, l)
				op, _, _ := strings.Cut(l.Operator, ":")
				operators[op] = append(operators[op], l)
			}
		}
		if len(mine) == 0 {
			continue
		}
		s.Arms = append(s.Arms, summaryOf(string(arm), mine, notes))
		if arm.bad() {
			for _, op := range sortedKeys(operators) {
				s.Operators = append(s.Operators, summaryOf(string(arm)+": "+op, operators[op], notes))
			}
		}
		for _, l := range mine {
			note := notes[l.Case]
			if right(l) && !note.Exclude {
				continue
			}
			cause := note.Cause
			if cause == "" {
				cause = cmp.Or(strings.Join(l.Reasons, "; "), noCause(l))
			}
			s.Wrong = append(s.Wrong, WrongCase{l.Case, l.Arm, l.Operator, l.Verdict, cause, note.Exclude})
		}
	}
}

// noCause says why a case that was judged wrongly has no reasons: a PASS never has any.
func noCause(l Line) string {
	switch {
	case l.Verdict != string(report.Pass):
		return "no reason recorded"
	case l.First:
		return "no test showed the fault (probes were not run)"
	default:
		return "no test or probe showed the fault"
	}
}

// countBehaviour counts what the comparison of behaviour showed.
func (s *Summary) countBehaviour(judged []Line, notes map[string]Note) {
	for _, arm := range Arms() {
		operators := map[string][]Line{}
		for _, l := range judged {
			if l.Arm != arm || l.Shown == nil || notes[l.Case].Exclude {
				continue
			}
			operators[""] = append(operators[""], l)
			if op, _, _ := strings.Cut(l.Operator, ":"); arm.bad() {
				operators[": "+op] = append(operators[": "+op], l)
			}
		}
		for _, op := range sortedKeys(operators) {
			s.Behaviour = append(s.Behaviour, behaviourOf(string(arm)+op, operators[op]))
		}
	}
}

func behaviourOf(name string, lines []Line) ArmBehaviour {
	a := ArmBehaviour{Name: name, Cases: len(lines)}
	var shown []float64
	for _, l := range lines {
		switch {
		case *l.Shown > 0:
			a.Shows++
		case l.Folded > 0:
			a.Folded++
		}
		shown = append(shown, float64(*l.Shown))
		a.Most = max(a.Most, *l.Shown)
	}
	r := rateOf(a.Shows, a.Cases)
	a.Rate, a.Low, a.High, a.Median = r.Rate, r.Low, r.High, median(shown)
	return a
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func summaryOf(name string, lines []Line, notes map[string]Note) ArmSummary {
	a := ArmSummary{Name: name}
	byRepo := map[string]int{}
	for _, l := range lines {
		if notes[l.Case].Exclude {
			a.ExcludedAfter++
			continue
		}
		a.Cases++
		byRepo[l.Repo]++
		switch l.Verdict {
		case string(report.Pass):
			a.Pass++
		case string(report.Fail):
			a.Fail++
		case string(report.Partial):
			a.Partial++
		default:
			a.Error++
		}
		if wrong(l) {
			a.Wrong++
		}
		if named(l) {
			a.Named++
		}
	}
	for _, n := range byRepo {
		a.LargestShare = max(a.LargestShare, float64(n)/float64(a.Cases))
	}
	first, second := rateOf(a.Wrong, a.Cases), rateOf(a.Wrong+a.ExcludedAfter, a.Cases+a.ExcludedAfter)
	a.Rate, a.Low, a.High, a.WithExcluded = first.Rate, first.Low, first.High, second
	return a
}

func rateOf(k, n int) Rate {
	r := Rate{}
	if n > 0 {
		r.Rate = float64(k) / float64(n)
	}
	r.Low, r.High = ClopperPearson(k, n)
	return r
}

func costOf(judged []Line) Cost {
	var c Cost
	var secs, plain, wall, cpu []float64
	good, over1 := 0, 0
	for _, l := range judged {
		secs = append(secs, l.Seconds)
		c.Slowest = max(c.Slowest, l.Seconds)
		if l.Plain > 0 {
			plain, wall = append(plain, l.Plain), append(wall, l.Seconds/l.Plain)
		}
		if l.PlainCPU > 0 && l.CPU > 0 {
			cpu = append(cpu, l.CPU/l.PlainCPU)
		}
		if l.Arm == Good {
			good++
			if l.Plain > 60 {
				over1++
			}
			if l.Plain > 300 {
				c.PlainOver5++
			}
		}
	}
	c.Seconds, c.Plain, c.WallTimes, c.CPUTimes = median(secs), median(plain), median(wall), median(cpu)
	if good > 0 {
		c.PlainOver1 = float64(over1) / float64(good)
	}
	return c
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}
