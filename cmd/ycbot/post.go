package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/terminal"

	"github.com/ycbot/ycbot/action"
	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
)

// A poster tells people about one run. It owns the goroutine that shows progress,
// from begin to stop.
type poster struct {
	publisher *publish.Publisher
	posting   posting
	effects   record

	news chan string         // the latest line of progress; nil: nothing is shown
	so   chan *report.Report // what the decisive part came to
	done chan struct{}
}

// A record keeps what was posted of a run, and where and how it is told of.
type record interface {
	publish.Store
	keep(po posting) error
	Close() error
}

// newPoster makes a poster for what po says. The record stays open until close.
func (p *program) newPoster(client publish.GitHub, po posting, e record) *poster {
	return &poster{posting: po, effects: e, publisher: &publish.Publisher{
		GitHub: client, Ledger: &publish.Ledger{Store: e}, Comment: po.Comment, Check: po.Check, Annotations: po.Annotations,
		Status: po.Status, Scope: po.Scope, FailOn: po.FailOn, DetailsURL: po.DetailsURL,
		EvidenceURL: po.EvidenceURL, Artifact: po.Artifact,
		Redact: redact.New(redact.SecretsFrom(p.env)), Now: p.now, Log: p.log(),
	}}
}

// begin shows that the run is under way.
func (s *poster) begin(ctx context.Context) error {
	if err := s.effects.keep(s.posting); err != nil {
		return err
	}
	if err := s.publisher.Begin(ctx, s.posting.Target); err != nil {
		return err
	}
	s.news, s.so, s.done = make(chan string, 1), make(chan *report.Report, 1), make(chan struct{})
	go s.show(ctx)
	return nil
}

// show passes on what comes, until stop.
func (s *poster) show(ctx context.Context) {
	defer close(s.done)
	long := time.NewTimer(longRun)
	defer long.Stop()
	for {
		select {
		case <-long.C:
			if err := s.publisher.Running(ctx, s.posting.Target); err != nil {
				s.publisher.Log.WarnContext(ctx, "the comment does not say that the run goes on", "error", err)
			}
		case rep := <-s.so:
			if err := s.publisher.First(ctx, s.posting.Target, rep); err != nil {
				s.publisher.Log.WarnContext(ctx, "the first verdict is not shown", "error", err)
			}
		case line, more := <-s.news:
			if !more {
				return
			}
			_ = s.publisher.Progress(ctx, s.posting.Target, line) // the next line says more
		}
	}
}

// first passes on what the decisive part of a run came to. It never waits.
func (s *poster) first(rep *report.Report) {
	if s.news == nil {
		return
	}
	select {
	case s.so <- rep:
	default:
	}
}

// observe passes on what a run does now. It never waits: a line that could not
// be shown in time gives way to the next.
func (s *poster) observe(e agent.Event) {
	line := terminal.News(e)
	if line == "" || s.news == nil {
		return
	}
	select {
	case <-s.news:
	default:
	}
	select {
	case s.news <- line:
	default:
	}
}

// stop ends the goroutine.
func (s *poster) stop() {
	if s.news != nil {
		close(s.news)
		<-s.done
		s.news = nil
	}
}

// finish says how the run in dir ended.
func (s *poster) finish(ctx context.Context, dir string, rep *report.Report, e publish.Ending) (publish.Posted, error) {
	s.stop()
	t := s.posting.Target
	if rep != nil {
		if t.RunID == "" {
			t.RunID = rep.RunID
		}
		if c, err := recheck.Check(dir, ""); err == nil {
			t.Digest = c.Digest
		}
	}
	return s.publisher.Finish(ctx, t, rep, e)
}

func (s *poster) close() error {
	s.stop()
	return s.effects.Close()
}

// posted is what the action's step reports it. What stands in the check run
// anyway is not repeated in the log.
func (p *program) posted(rep *report.Report, e publish.Ending, in publish.Posted, files []change.File) action.Posted {
	out := action.Posted{CommentURL: in.CommentURL, CheckURL: in.CheckURL, Left: in.Left}
	out.Summary = publish.Summary(rep, e, in, redact.New(redact.SecretsFrom(p.env)))
	if in.CheckURL == "" {
		for _, c := range publish.WorkflowCommands(rep, files) {
			out.Annotations = append(out.Annotations, action.Annotation{Level: c.Level, File: c.File, Line: c.Line, Title: c.Title, Message: c.Message})
		}
	}
	return out
}

// salvager makes reports from run directories.
func (p *program) salvager() run.Salvager {
	return run.Salvager{Redact: redact.New(redact.SecretsFrom(p.env)).Bytes, Now: p.now, Log: p.log()}
}

// longRun is after how long the comment says that a run goes on. A shorter one has its
// result in the mail that GitHub sends of a new comment.
const longRun = time.Minute

// detailsURL is the page of this job, or of the workflow run where its number is not
// known; "" outside of Actions.
func (p *program) detailsURL() string {
	run := p.workflowRunURL()
	if id := p.getenv("JOB_CHECK_RUN_ID"); run != "" && id != "" && strings.Trim(id, "0123456789") == "" {
		return run + "/job/" + id
	}
	return run
}

// workflowRunURL is the page of this workflow run, "" outside of Actions.
func (p *program) workflowRunURL() string {
	server, repo, id := p.getenv("GITHUB_SERVER_URL"), p.getenv("GITHUB_REPOSITORY"), p.getenv("GITHUB_RUN_ID")
	if server == "" || repo == "" || id == "" {
		return ""
	}
	return fmt.Sprintf("%s/%s/actions/runs/%s", server, repo, id)
}

// artifact is where the evidence of this workflow run is, and its name; nothing where it
// is not uploaded.
func (p *program) artifact(in action.Inputs) (address, name string) {
	run := p.workflowRunURL()
	if run == "" || !in.Upload {
		return "", ""
	}
	return run + "#artifacts", cmp.Or(in.ArtifactName, "ycbot")
}

// postTime is how long telling people may take.
const postTime = time.Minute

// observers gives each event to all of fs.
func observers(fs ...func(agent.Event)) func(agent.Event) {
	return func(e agent.Event) {
		for _, f := range fs {
			f(e)
		}
	}
}

// say writes a line of operation to standard error.
func (p *program) say(text string) { fmt.Fprintln(p.stderr, "ycbot: "+terminal.Printable(text)) }

// makeParent makes the folder in which a run directory and its effects file lie.
func makeParent(dir string) error { return os.MkdirAll(filepath.Dir(dir), 0o700) }
