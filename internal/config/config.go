// Package config reads what a repository asks of ycbot: .github/ycbot.yml.
//
// Reading is strict and pure. An unknown key, a wrong type or a bad value is a
// [Problem] with its place in the file, and all problems of a file come back
// together. Nothing here decides how far a file is trusted: the caller reads it
// at the base commit and applies env and network to trusted heads only. What
// only the operator may say (secrets, provider, base URL, sandbox) has no field
// here and is refused by name.
//
// Settings come in layers. [Parse] lays one file over the defaults,
// [Config.With] lays a further file over a Config, and [Limits.Under] brings
// the limits of a file under those of the operator.
package config

import (
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Version is the only version of the file format.
const Version = 1

// MaxSize is how many bytes a file may have.
const MaxSize = 256 << 10

// A Config is what one or more files ask for, over the defaults. It is read
// once and not changed afterwards; [Config.With] returns a new one.
type Config struct {
	On                On                `json:"on"`
	Allow             Permission        `json:"allow"` // least permission that may trigger a run by comment
	Commands          Commands          `json:"commands"`
	Env               map[string]string `json:"env"` // for commands; trusted heads only
	Network           Network           `json:"network"`
	Agents            Agents            `json:"agents"`
	Guidance          []string          `json:"guidance"` // files of the base that agents are given before those that are looked for
	Limits            Limits            `json:"limits"`
	Machines          []string          `json:"machines"` // logins of authors that are treated as machines, beside accounts of type Bot
	Expectations      Expectations      `json:"expectations"`
	API               API               `json:"api"`                  // accepted, without effect
	FailOn            FailOn            `json:"fail_on"`              // Action and App only
	RequireFailToPass bool              `json:"require_fail_to_pass"` // tests of the change that also pass on base fail the run
	Publish           Publish           `json:"publish"`
}

// On says which pull requests are verified without being asked.
type On struct {
	PullRequest []PullRequestAction `json:"pull_request"` // empty: only when someone asks
	Drafts      bool                `json:"drafts"`       // verify drafts too
	PathsIgnore []string            `json:"paths_ignore"` // doublestar globs; see Ignores
	Outsiders   Outsiders           `json:"outsiders"`    // forks, and authors without write permission
}

// Ignores reports whether a pull request that touches paths (slash-separated,
// from the top of the repository) is left alone: all of them match PathsIgnore.
// A change without paths is never ignored.
func (o On) Ignores(paths []string) bool {
	if len(paths) == 0 {
		return false
	}
	for _, p := range paths {
		matches := func(glob string) bool { return doublestar.MatchUnvalidated(glob, p) }
		if !slices.ContainsFunc(o.PathsIgnore, matches) {
			return false
		}
	}
	return true
}

// A PullRequestAction is what happened to a pull request, as GitHub calls it.
type PullRequestAction string

// The actions that may start a run.
const (
	Opened         PullRequestAction = "opened"
	Synchronize    PullRequestAction = "synchronize" // new commits, or another base
	Reopened       PullRequestAction = "reopened"
	ReadyForReview PullRequestAction = "ready_for_review"
	Labeled        PullRequestAction = "labeled" // only the labels that ask for a run or accept something
)

// Outsiders says what is done without being asked for a pull request from a
// fork or from an author without write permission.
type Outsiders string

// What is done for outsiders.
const (
	OutsidersGate  Outsiders = "gate"  // the gate, no model
	OutsidersFull  Outsiders = "full"  // all of it
	OutsidersNever Outsiders = "never" // nothing
)

// Expectations says what becomes of tests of the base that a change rewrites, weakens
// or removes; empty: it depends on who the author is and what the title promises.
type Expectations string

// What becomes of given-up expectations.
const (
	ExpectationsReport      Expectations = "report"      // they are listed
	ExpectationsAcknowledge Expectations = "acknowledge" // those that can hide a fault are PARTIAL until a person accepts them
	ExpectationsStrict      Expectations = "strict"      // all are FAIL until a person accepts them
)

// API says what becomes of incompatible changes of interfaces.
type API string

// What becomes of incompatible changes.
const (
	APIReport API = "report"
	APIStrict API = "strict"
	APIOff    API = "off"
)

// Machine reports whether a login is that of an author who is treated as a machine.
func (c *Config) Machine(login string) bool {
	return slices.ContainsFunc(c.Machines, func(m string) bool { return strings.EqualFold(m, login) })
}

// A Permission is a person's permission on a repository.
type Permission string

// The permissions that Allow may ask for, from least to most.
const (
	Write    Permission = "write"
	Maintain Permission = "maintain"
	Admin    Permission = "admin"
)

// Commands are the commands of the gate, each a line for the shell, run in the
// order given. A nil list leaves the step to detection; an empty one leaves the
// step out.
type Commands struct {
	Setup []string `json:"setup"`
	Build []string `json:"build"`
	Test  []string `json:"test"`
	Lint  []string `json:"lint"`
}

// Network is what commands may reach beside their own loopback interface.
type Network struct {
	Allow []string `json:"allow"` // "host:port" of the job's services; trusted heads only
}

// Agents says which agents run and with what.
type Agents struct {
	Run       []string         `json:"run"`       // verification runs whether it is named or not
	Verifiers Verifiers        `json:"verifiers"` // how many verifications look at the change side by side
	Settings  map[string]Agent `json:"-"`         // by agent name; in the file beside run and verifiers
}

// Verifiers is how many verifications look at a change, each with a concern of its own.
// Zero is one; [VerifiersAuto] leaves it to the size of the change and to what there is
// to spend.
type Verifiers int

// VerifiersAuto and MostVerifiers are the word auto, and how many there can be.
const (
	VerifiersAuto Verifiers = -1
	MostVerifiers Verifiers = 4
)

// An Agent is the settings of one agent.
type Agent struct {
	Model  string `json:"model"`  // empty: the operator's
	Effort Effort `json:"effort"` // empty: what its definition says
}

// An Effort says how long an agent's model may think.
type Effort string

// The efforts.
const (
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

// Limits bound a run. Zero means that nothing was asked for: bring the limits
// of a file under the operator's with Under before using them.
type Limits struct {
	Timeout      time.Duration `json:"timeout"`
	Tokens       int           `json:"tokens"` // uncached input, and output; 0: the cost alone bounds them
	CostUSD      float64       `json:"cost_usd"`
	CostUSDPerPR float64       `json:"cost_usd_per_pr"` // App only
	RunsPerDay   int           `json:"runs_per_day"`    // App only
}

// DefaultLimits are the limits where neither operator nor repository names any.
func DefaultLimits() Limits {
	return Limits{Timeout: 20 * time.Minute, CostUSD: 3, CostUSDPerPR: 10, RunsPerDay: 50}
}

// Under returns the limits that hold when the operator sets some: for each the
// lower of the two, the one that is set where the other is not, and the default
// where neither is. An operator whose limits no repository may raise passes all
// of them, as DefaultLimits has them.
func (l Limits) Under(operator Limits) Limits {
	return l.lower(operator).or(DefaultLimits())
}

// lower returns the lower of what is set in l and m.
func (l Limits) lower(m Limits) Limits {
	return Limits{
		Timeout:      lowerSet(l.Timeout, m.Timeout),
		Tokens:       lowerSet(l.Tokens, m.Tokens),
		CostUSD:      lowerSet(l.CostUSD, m.CostUSD),
		CostUSDPerPR: lowerSet(l.CostUSDPerPR, m.CostUSDPerPR),
		RunsPerDay:   lowerSet(l.RunsPerDay, m.RunsPerDay),
	}
}

// or returns l with m's values where l has none.
func (l Limits) or(m Limits) Limits {
	return Limits{
		Timeout:      firstSet(l.Timeout, m.Timeout),
		Tokens:       firstSet(l.Tokens, m.Tokens),
		CostUSD:      firstSet(l.CostUSD, m.CostUSD),
		CostUSDPerPR: firstSet(l.CostUSDPerPR, m.CostUSDPerPR),
		RunsPerDay:   firstSet(l.RunsPerDay, m.RunsPerDay),
	}
}

// lowerSet returns the lower of a and b, zero being no bound.
func lowerSet[T time.Duration | int | float64](a, b T) T {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// firstSet returns a, or b where a is zero.
func firstSet[T time.Duration | int | float64](a, b T) T {
	if a == 0 {
		return b
	}
	return a
}

// FailOn says which verdicts fail the check run and the Action step.
type FailOn string

// What fails.
const (
	FailOnAuto    FailOn = "auto"    // FAIL; PARTIAL too where the base branch requires the check
	FailOnFail    FailOn = "fail"    // FAIL
	FailOnPartial FailOn = "partial" // FAIL and PARTIAL
	FailOnNever   FailOn = "never"   // no verdict
)

// Publish says what appears on the pull request.
type Publish struct {
	Comment     Comment `json:"comment"`
	Check       bool    `json:"check"`       // a check run
	Annotations bool    `json:"annotations"` // findings on the lines that they are about
}

// Comment says how the pull request is commented on.
type Comment string

// How a pull request is commented on.
const (
	CommentSticky Comment = "sticky" // one comment, kept up to date
	CommentNew    Comment = "new"    // one for each run
	CommentOff    Comment = "off"
)

// Path is where a repository keeps its configuration.
const Path = ".github/ycbot.yml"

// Misnamed is what [Path] is taken for, and NotRead what people see of it.
const (
	Misnamed = ".github/ycbot.yaml"
	NotRead  = Misnamed + " is not read: its name has to be " + Path
)

// Default returns what holds where no file says otherwise. Its limits are not
// set; see [Limits.Under].
func Default() *Config {
	return &Config{
		On: On{
			PullRequest: []PullRequestAction{Opened, Synchronize, Reopened, ReadyForReview, Labeled},
			Outsiders:   OutsidersGate,
		},
		Allow:   Write,
		API:     APIReport,
		Agents:  Agents{Run: []string{"verification"}},
		FailOn:  FailOnAuto,
		Publish: Publish{Comment: CommentSticky, Check: true, Annotations: true},
	}
}

// Parse reads one file over the defaults. The name is for messages only. The
// error is of type [Problems]. A file without content is the defaults.
func Parse(name string, data []byte) (*Config, error) {
	return Default().With(name, data)
}
