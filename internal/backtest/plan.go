package backtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/sorted"
)

// An Arm is a sort of case. The strings are stored: do not change them.
type Arm string

// The arms. All but Good and Honest are bad changes.
const (
	Good     Arm = "good"     // the change as it was merged
	Undone   Arm = "undone"   // its sources put back, its tests kept
	Unseen   Arm = "unseen"   // a fault that only a test shows which the change does not bring
	Tampered Arm = "tampered" // undone, and the tests changed until they pass
	Honest   Arm = "honest"   // edits of sample repositories that change tests for a good reason
)

// Arms are all arms, in the order in which tables have them.
func Arms() []Arm { return []Arm{Good, Honest, Undone, Unseen, Tampered} }

func (a Arm) bad() bool { return a != Good && a != Honest }

// ParseArms reads a list of arms.
func ParseArms(names []string) ([]Arm, error) {
	var out []Arm
	for _, n := range names {
		a := Arm(strings.TrimSpace(n))
		if !slices.Contains(Arms(), a) {
			return nil, fmt.Errorf("unknown arm %q: the arms are good, undone, unseen, tampered and honest", n)
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no arm is named: the arms are good, undone, unseen, tampered and honest")
	}
	return out, nil
}

// planSchema names the form of a plan and the rules in it. A change of the rule, of an
// operator or of an exclusion is another schema: a plan of an older one is not continued.
const planSchema = "ycbot.backtest/v1"

// A Plan is all that determines the cases of a backtest. It is written before the first
// run, and holds names and commits only.
type Plan struct {
	Schema     string        `json:"schema"`
	Rule       string        `json:"rule"`
	Exclusions []string      `json:"exclusions"` // why a commit is not chosen, or a case not made
	Operators  []Operator    `json:"operators"`
	Seed       uint64        `json:"seed"`
	Last       int           `json:"last"` // changes of each repository
	Arms       []Arm         `json:"arms"`
	Timeout    string        `json:"timeout"`         // of a run, and of a suite
	First      bool          `json:"first,omitempty"` // runs end with the first verdict
	Repos      []PlannedRepo `json:"repos"`
}

// A PlannedRepo is one repository and the changes chosen of it.
type PlannedRepo struct {
	Name     string          `json:"name"`
	Head     string          `json:"head"` // the commit from which history was read
	Changes  []PlannedChange `json:"changes"`
	Excluded map[string]int  `json:"excluded"`           // commits that were looked at and not chosen, by cause
	Unusable string          `json:"unusable,omitempty"` // why nothing of it could be read
}

// A PlannedChange is one change that was chosen.
type PlannedChange struct {
	Commit string `json:"commit"`
	Parent string `json:"parent"`
	Tests  bool   `json:"tests"` // it touches tests or their data
}

// An Operator is a way in which a case is made.
type Operator struct {
	Arm  Arm    `json:"arm"`
	Name string `json:"name"`
	Does string `json:"does"`
}

// selectionRule is the rule by which changes are chosen, for people.
const selectionRule = "From the commit that HEAD names, along first parents, newest first, the first LAST commits that no exclusion names; " +
	"a merge counts as one change against its first parent. Changes with and without tests are both taken. " +
	"The order of changes, and of the operators that are tried on one, follows sha256(seed, commit). " +
	"An operator is tried at most four times on a change, and the first case that is proven is taken: " +
	"the deciding tests pass on the good head and fail on the bad one, twice."

// newPlan is a plan without repositories.
func newPlan(s Settings) *Plan {
	return &Plan{
		Schema: planSchema, Rule: selectionRule, Exclusions: slices.Concat(commitExclusions, caseExclusions), Operators: operators(),
		Seed: s.Seed, Last: s.Last, Arms: s.Arms, Timeout: s.Timeout.String(), First: s.First,
	}
}

// fits says in one sentence why a plan cannot be continued with these settings; nil
// where it can.
func (p *Plan) fits(s Settings, names []string) error {
	var have []string
	for _, r := range p.Repos {
		have = append(have, r.Name)
	}
	differs := func(what string, planned, now any) error {
		return fmt.Errorf("the plan to resume has %s %v and this command %v: give the same settings, or begin another backtest with --out DIR", what, planned, now)
	}
	switch {
	case p.Schema != planSchema:
		return differs("the rules", p.Schema, "has "+planSchema)
	case p.Seed != s.Seed:
		return differs("seed", p.Seed, s.Seed)
	case p.Last != s.Last:
		return differs("--last", p.Last, s.Last)
	case !slices.Equal(p.Arms, s.Arms):
		return differs("the arms", p.Arms, s.Arms)
	case p.Timeout != s.Timeout.String():
		return differs("--timeout", p.Timeout, s.Timeout)
	case p.First != s.First:
		return differs("--until first", p.First, s.First)
	case !slices.Equal(have, names):
		return differs("the repositories", have, names)
	}
	return nil
}

// timeout is that of a run and of a suite.
func (p *Plan) timeout() time.Duration {
	d, err := time.ParseDuration(p.Timeout)
	if err != nil {
		return 20 * time.Minute
	}
	return d
}

// planFile is the name of a plan in the folder of a backtest.
const planFile = "plan.json"

// ReadPlan reads the plan of the backtest in the folder dir. It returns an error that
// is fs.ErrNotExist where there is none.
func ReadPlan(dir string) (*Plan, error) {
	data, err := os.ReadFile(filepath.Join(dir, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no backtest in %s: %s is missing: %w", dir, planFile, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	p := &Plan{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, planFile), err)
	}
	return p, nil
}

// Text is the plan in the folder dir for people: where it is, and the chosen changes.
func (p *Plan) Text(dir string) string {
	var b strings.Builder
	changes := 0
	for _, r := range p.Repos {
		changes += len(r.Changes)
	}
	fmt.Fprintf(&b, "plan: %s\nrepositories: %d, changes: %d, at most %d cases\n", filepath.Join(dir, planFile), len(p.Repos), changes, changes*len(p.Arms))
	for _, r := range p.Repos {
		for _, c := range r.Changes {
			fmt.Fprintf(&b, "  %s %.12s\n", r.Name, c.Commit)
		}
		for _, cause := range sortedKeys(r.Excluded) {
			fmt.Fprintf(&b, "  %s: not chosen: %s (%d)\n", r.Name, cause, r.Excluded[cause])
		}
		if r.Unusable != "" {
			fmt.Fprintf(&b, "  %s: not read: %s\n", r.Name, r.Unusable)
		}
	}
	return b.String()
}

// write keeps the plan in a folder, whole or not at all.
func (p *Plan) write(dir string) error {
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp := filepath.Join(dir, "."+planFile)
	if err := os.WriteFile(temp, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, planFile))
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// rank is a number that depends on the seed and these words alone.
func rank(seed uint64, words ...string) uint64 {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, seed)
	for _, w := range words {
		fmt.Fprintf(h, "%q", w)
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// shuffled is list in an order that depends on the seed, the words and the elements.
func shuffled[T any](seed uint64, list []T, key func(T) string, words ...string) []T {
	out := slices.Clone(list)
	sorted.By(out, func(a, b T) int {
		x, y := rank(seed, append(words, key(a))...), rank(seed, append(words, key(b))...)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return out
}

// A planned is one change of a plan with the repository it is of.
type planned struct {
	repo   string
	change PlannedChange
}

// order is how the changes of a plan are worked on: one of each repository in turn, so
// that the first results say something about all.
func (p *Plan) order() []planned {
	var lists [][]planned
	longest := 0
	for _, r := range shuffled(p.Seed, p.Repos, func(r PlannedRepo) string { return r.Name }) {
		var list []planned
		for _, c := range shuffled(p.Seed, r.Changes, func(c PlannedChange) string { return c.Commit }, r.Name) {
			list = append(list, planned{r.Name, c})
		}
		lists, longest = append(lists, list), max(longest, len(list))
	}
	var out []planned
	for i := range longest {
		for _, l := range lists {
			if i < len(l) {
				out = append(out, l[i])
			}
		}
	}
	return out
}

// caseID names a case: it is the same on every machine.
func caseID(repo, commit string, arm Arm) string {
	return slug(repo) + "-" + short(commit, 8) + "-" + string(arm)
}

// slug is the name of a repository as a part of a file's name.
func slug(repo string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, repo)
	return name[max(0, len(name)-40):]
}

func short(oid string, n int) string { return oid[:min(n, len(oid))] }
