package run

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A session is one run in progress: its directory and what it has open.
type session struct {
	*Runner
	job       Job
	dir       string // run directory
	fresh     bool   // nothing was in it before
	driven    bool   // it is a finished run that is driven again
	span      string // commits that base and head name
	between   between
	id        string
	project   string                // the project's folder under Home
	trees     string                // folder of the run's worktrees, and of what its commands may write besides
	repo      *workspace.Repository // nil for a pull request
	root      string                // what stands for the repository
	journal   *journal.Journal
	events    *agent.EventLog
	log       *evidence.Log
	read      []evidence.Record // in place of log, where nothing is written
	estimates *estimates        // how long commands took last time
	past      *past             // the run that is driven again; nil: none
	began     time.Time
	around    circumstances
	stages    []report.Stage

	mu      sync.Mutex
	failure error // of writing an event

	// What the stages leave for those after them.
	src       source
	config    *config.Config
	configSum string // of the repository's configuration, or of what was named in its place; empty: none
	mirror    *workspace.Mirror
	history   *backfill  // nil: nothing is brought
	hide      func()     // ends what prepares the history that commands see; nil: nothing does
	last      *revisited // what became of the last run's checks
	lock      *workspace.Lock
	laid      []*workspace.Tree
	pool      workspace.Pool    // of trees for what is run again
	services  []sandbox.Service // of the job, that commands may reach

	words     words
	exchanges *modelLog // model.jsonl, once it is needed
	givenUp   givenUp
	budget    *agent.Budget // of all agents; nil before they begin
	modelName string
	may       agent.Permissions             // what agents may do
	crew      crew                          // who they are
	pull      *tool.Pull                    // the pull request as they may read it; nil: there is none
	snapshots map[gate.Side]*workspace.Tree // prepared trees, when agents follow
	closers   []io.Closer                   // what stages opened
}

// identity is what must be the same for a run to be continued.
type identity struct {
	Run    string `json:"run"`
	Root   string `json:"root"`
	Base   string `json:"base"`
	Head   string `json:"head"`
	Range  string `json:"range"` // what the refs stood for, so that what is new is verified and not what was
	Dirty  bool   `json:"dirty"`
	Task   string `json:"task"`
	Config string `json:"config"`
	Model  string `json:"model"` // who is asked, and which agents
	Where  string `json:"where"` // sandbox and network, which the evidence depends on
	Trees  string `json:"trees"` // where its worktrees lay as it began, which outputs name; may be another when it is continued
}

func (i identity) same(j identity) bool {
	i.Run, j.Run, i.Trees, j.Trees = "", "", "", ""
	return i == j
}

// open finds the repository, makes or finds the run directory and opens what a
// run writes.
func (r *Runner) open(ctx context.Context, job Job) (*session, error) {
	s := &session{Runner: r, job: job, began: r.Now(), id: job.ID, snapshots: map[gate.Side]*workspace.Tree{}}
	if s.id == "" {
		s.id = NewID(s.began)
	}
	if err := s.locate(ctx); err != nil {
		return nil, err
	}
	s.project = filepath.Join(r.Home, "projects", workspace.Slug(s.root))
	s.estimates = openEstimates(s.project)
	if err := s.directory(); err != nil {
		return nil, err
	}
	if err := s.openFiles(); err != nil {
		s.close()
		return nil, fmt.Errorf("run directory %s: %w", s.dir, err)
	}
	return s, nil
}

// locate finds the repository, and what the range stands for now.
func (s *session) locate(ctx context.Context) (err error) {
	if p := s.job.Pull; p != nil {
		s.root, s.span = p.root(), p.Base+".."+p.Head
		return nil
	}
	if s.repo = s.job.Repo; s.repo == nil {
		if s.repo, err = s.Git.Discover(ctx, s.job.Dir); err != nil {
			return &UsageError{err}
		}
	}
	s.root = s.repo.Root
	if s.between.base, s.between.head, s.between.err = s.refs(ctx); s.between.err == nil { // else checkout says what is wrong
		s.span = s.between.base.OID + ".." + s.between.head.OID
	}
	return nil
}

// between is the commits that the change lies between, as they were when the run
// began, or why there are none.
type between struct {
	base, head workspace.Ref
	err        error
}

func (s *session) mirrorDir() string { return filepath.Join(s.project, "mirror.git") }

// NewID is the name of a run: when it began, and something at random.
func NewID(now time.Time) string {
	var b [4]byte
	rand.Read(b[:])
	return now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}

// runFiles are the names that a run directory may hold; a folder with anything
// else in it is no run directory.
var runFiles = []string{
	"report.json", "report.md", "brief.md", "journal.jsonl", "events.jsonl", "evidence.jsonl", "spill",
	"subagents", "sessions", "model.jsonl", "report.sarif", "junit.xml", "statement.intoto.json", "SHA256SUMS", sumsDraft, previousDir,
}

// directory chooses the run directory and makes it. One that was named and
// holds a finished run is emptied; one with a run that was broken off is kept.
func (s *session) directory() error {
	s.dir = s.job.Out
	if s.dir == "" {
		s.dir = filepath.Join(s.project, "runs", s.id)
	}
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return err
	}
	s.dir = dir
	if rel, err := filepath.Rel(s.root, dir); err == nil && filepath.IsLocal(rel) && s.job.Dirty {
		return &UsageError{fmt.Errorf("--out %s lies in the working tree that --dirty verifies: name a folder outside of it", s.job.Out)}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &UsageError{fmt.Errorf("run directory: %w", err)}
	}
	have, err := os.ReadDir(dir)
	if err != nil {
		return &UsageError{fmt.Errorf("run directory: %w", err)}
	}
	s.fresh = len(have) == 0
	finished := false
	for _, e := range have {
		if !slices.Contains(runFiles, e.Name()) {
			return &UsageError{fmt.Errorf("--out %s holds %q, which is not a run's: name an empty or new folder", dir, e.Name())}
		}
		finished = finished || e.Name() == "SHA256SUMS"
	}
	if !finished && s.continues() {
		return nil
	}
	// The journal goes first: without it, what is left of a folder that was being
	// emptied is never taken for a run that was broken off.
	if err := os.RemoveAll(filepath.Join(dir, "journal.jsonl")); err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	for _, e := range have {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("run directory: %w", err)
		}
	}
	return nil
}

// continues says whether the directory holds this same job, broken off, and
// takes over its run's name.
func (s *session) continues() bool {
	j, err := journal.Open(filepath.Join(s.dir, "journal.jsonl"), s.Now)
	if err != nil {
		return false
	}
	defer j.Close()
	raw, ok := j.Lookup("run", "identity")
	var was identity
	if !ok || json.Unmarshal(raw, &was) != nil || !was.same(s.identity()) {
		return false
	}
	s.id = was.Run
	return true
}

func (s *session) identity() identity {
	i := identity{
		Run: s.id, Root: s.root, Base: s.job.Base, Head: s.job.Head, Range: s.span, Dirty: s.job.Dirty, Task: digest(s.job.Task),
		Where: fmt.Sprintf("%s %s", s.Sandbox.Status().Tier, s.Network), Trees: s.treesDir(),
	}
	if s.job.Config != nil {
		i.Config = digest(string(s.job.Config.Data))
	}
	if c := s.job.Cast; c != nil {
		i.Model = digest(fmt.Sprintf("%s %q %t %s", c.Name, c.Agents, c.Coordinator, s.job.Mode))
		if c.NoBackground {
			i.Model += " no background"
		}
		if c.Exec != "" {
			i.Model += " exec " + c.Exec
		}
	}
	return i
}

// digest stands for a text in the journal; none for none.
func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s *session) openFiles() (err error) {
	if s.journal, err = journal.Open(filepath.Join(s.dir, "journal.jsonl"), s.Now); err != nil {
		return err
	}
	s.journal.Redact, s.journal.Kept = s.Redact, s.job.Kept
	if s.events, err = agent.OpenEvents(filepath.Join(s.dir, "events.jsonl"), s.redact); err != nil {
		return err
	}
	if s.log, err = evidence.Open(s.dir, s.id, evidence.Options{Redact: s.Redact, Now: s.Now}); err != nil {
		return err
	}
	if s.around, err = journal.Once(s.journal, "run", "circumstances", s.circumstances); err != nil {
		return err
	}
	if _, resumed := s.journal.Lookup("run", "identity"); resumed {
		s.tell(agent.Event{Type: agent.EventRunResumed, Text: s.id})
		return nil
	}
	s.tell(agent.Event{Type: agent.EventRunStart, Text: s.id})
	return s.journal.Append("run", "identity", s.identity())
}

// close removes the run's trees and closes its files. What cannot be removed is
// left to the sweeper.
func (s *session) close() {
	s.history.stop()
	if s.hide != nil {
		s.hide()
	}
	if err := s.pool.Close(); err != nil {
		s.Log.Warn("remove worktrees that were kept", "error", err)
	}
	for _, t := range slices.Backward(s.laid) {
		if err := t.Close(); err != nil {
			s.Log.Warn("remove worktree", "dir", t.Dir, "error", err)
		}
	}
	s.lock.Release()
	if s.trees != "" {
		for _, dir := range []string{s.temps(), s.trees} {
			if err := workspace.RemoveAll(context.Background(), dir); err != nil {
				s.Log.Warn("remove worktrees", "dir", dir, "error", err)
			}
		}
	}
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	if s.events != nil {
		errs = append(errs, s.events.Close())
	}
	if s.journal != nil {
		errs = append(errs, s.journal.Close())
	}
	if s.past == nil && s.estimates != nil { // a run that is only read has none
		errs = append(errs, s.estimates.save())
	}
	if err := errors.Join(errs...); err != nil {
		s.Log.Warn("close run", "run", s.id, "error", err)
	}
}

// temps is the folder for what commands of agents have in TMPDIR. It lies outside
// of the trees, because sockets in it must have a short path, and keeps its name
// when the run is continued.
func (s *session) temps() string { return filepath.Join(s.Home, "tmp", "y-"+first8(s.id)) }

// treesDir is the folder of the run's worktrees.
func (s *session) treesDir() string { return filepath.Join(s.project, "worktrees", s.id) }

// Writes are the folders outside of its directory that a run of a pull request writes to
// and that are gone when it ends.
func (r *Runner) Writes(job Job) []string {
	s := &session{Runner: r, job: job, id: job.ID}
	s.project = filepath.Join(r.Home, "projects", workspace.Slug(job.Pull.root()))
	return []string{s.treesDir(), s.temps()}
}

// discard removes the run directory of a run that came to nothing because of
// what it was given: there is nothing in it to look at.
func (s *session) discard(err error) error {
	var usage *UsageError
	if s.fresh && errors.As(err, &usage) {
		if rmErr := os.RemoveAll(s.dir); rmErr != nil {
			s.Log.Warn("remove run directory", "dir", s.dir, "error", rmErr)
		}
	}
	return err
}

// newTrees makes the folder of the run's worktrees. What an earlier attempt at
// the run left there, because it was killed, goes, but for the scratch files of
// agents and what they added to their trees: their conversations go on.
func (s *session) newTrees(ctx context.Context) error {
	for _, name := range []string{"base", "head", "over", "prepared-base", "prepared-head", "prepared-again", "mutant-1", "mutant-2", "mutant-3", "mutant-4", "rest-base", "rest-head", "rest-again", "merge", "again", "scratch/base", "scratch/head", shownHistory} {
		if err := workspace.RemoveAll(ctx, filepath.Join(s.trees, name)); err != nil {
			return err
		}
	}
	if err := setAside(ctx, filepath.Join(s.trees, agentTrees), filepath.Join(s.trees, earlierTrees)); err != nil {
		return err
	}
	c := s.src.Change
	var err error
	s.hide, err = s.mirror.Show(ctx, filepath.Join(s.trees, shownHistory), c.BaseSHA, c.MergeBase, c.HeadSHA)
	return err
}

// shownHistory is the folder with the history that the run's commands see.
const shownHistory = "history"

func (s *session) redact(b []byte) []byte {
	if s.Redact == nil {
		return b
	}
	return s.Redact(b)
}

// limit gives the run its time. What is left of a cancelled or expired run is a
// report that says so.
func (s *session) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := s.job.Timeout
	if timeout == 0 {
		timeout = s.config.Limits.Under(config.Limits{}).Timeout
	}
	return context.WithTimeoutCause(ctx, timeout, &timeLimit{timeout})
}

// timeLimit is the cause of a run's end by its own time limit.
type timeLimit struct{ limit time.Duration }

func (e *timeLimit) Error() string {
	return "the time limit of " + strings.TrimSuffix(e.limit.String(), "0s") + " was reached"
}

// Is lets it be told as what it is wherever a context's own deadline is.
func (e *timeLimit) Is(target error) bool { return target == context.DeadlineExceeded }

// scratchLog is an evidence log that nobody reads.
func scratchLog(dir, id string, now func() time.Time) (*evidence.Log, error) {
	return evidence.Open(dir, id, evidence.Options{Now: now})
}

// configLimits are the operator's limits for the agents.
func configLimits(c *Cast) config.Limits {
	return config.Limits{Tokens: c.MaxTokens, CostUSD: c.MaxCostUSD}
}
