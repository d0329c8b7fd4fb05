package pullrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/recheck"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/terminal"
)

// A Poster posts what becomes of one run. It owns the goroutine that shows progress, from
// Begin to Finish or Close.
type Poster struct {
	Posting Posting

	publisher *publish.Publisher
	effects   Record

	news chan string         // the latest line of progress; nil: nothing is shown
	so   chan *report.Report // what the decisive part came to
	done chan struct{}
	cut  context.CancelFunc // ends what is being shown
}

// A Record keeps what was posted of a run, and where and how.
type Record interface {
	publish.Store
	Keep(po Posting) error
	Close() error
}

// NewPoster makes a Poster for what po says. The record stays open until Close. app is the
// number of the App that posts; 0: it is none.
func NewPoster(m machine.Machine, client publish.GitHub, po Posting, e Record, app int64) *Poster {
	return &Poster{Posting: po, effects: e, publisher: &publish.Publisher{
		GitHub: client, Ledger: &publish.Ledger{Store: e}, Comment: string(po.Comment), Check: po.Check, Annotations: po.Annotations,
		Status: po.Status, Scope: po.Scope, FailOn: po.FailOn, DetailsURL: po.DetailsURL,
		EvidenceURL: po.EvidenceURL, Artifact: po.Artifact, App: app != 0, AppID: app,
		Redact: redact.New(redact.SecretsFrom(m.Env)), Now: m.Now, Log: m.Log,
	}}
}

// Begin shows that the run is under way.
func (s *Poster) Begin(ctx context.Context) error {
	if err := s.effects.Keep(s.Posting); err != nil {
		return err
	}
	if err := s.publisher.Begin(ctx, s.Posting.Target); err != nil {
		return err
	}
	s.news, s.so, s.done = make(chan string, 1), make(chan *report.Report, 1), make(chan struct{})
	ctx, s.cut = context.WithCancel(ctx)
	go s.show(ctx)
	return nil
}

// show passes on what comes, until stop.
func (s *Poster) show(ctx context.Context) {
	defer close(s.done)
	long := time.NewTimer(longRun)
	defer long.Stop()
	for {
		select {
		case <-long.C:
			if err := s.publisher.Running(ctx, s.Posting.Target); err != nil {
				s.publisher.Log.WarnContext(ctx, "the comment does not say that the run goes on", "error", err)
			}
		case rep := <-s.so:
			if err := s.publisher.First(ctx, s.Posting.Target, rep); err != nil {
				s.publisher.Log.WarnContext(ctx, "the first verdict is not shown", "error", err)
			}
		case line, more := <-s.news:
			if !more {
				return
			}
			_ = s.publisher.Progress(ctx, s.Posting.Target, line) // the next line says more
		}
	}
}

// First passes on what the decisive part of a run came to. It never waits.
func (s *Poster) First(rep *report.Report) {
	if s.news == nil {
		return
	}
	select {
	case s.so <- rep:
	default:
	}
}

// Observe passes on what a run does now. It never waits: a line that could not
// be shown in time gives way to the next.
func (s *Poster) Observe(e agent.Event) {
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
func (s *Poster) stop() {
	if s.news != nil {
		close(s.news)
		<-s.done
		s.news = nil
		s.cut()
	}
}

// Finish says how the run in dir ended.
func (s *Poster) Finish(ctx context.Context, dir string, rep *report.Report, e publish.Ending) (publish.Posted, error) {
	s.stop()
	t := s.Posting.Target
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

// Close ends what Begin began. What is being shown is not waited for.
func (s *Poster) Close() error {
	if s.news != nil {
		s.cut()
	}
	s.stop()
	return s.effects.Close()
}

// longRun is after how long the comment says that a run goes on. A shorter one has its
// result in the mail that GitHub sends of a new comment.
const longRun = time.Minute

// PostTime is how long posting may take.
const PostTime = time.Minute

// Observers gives each event to all of fs.
func Observers(fs ...func(agent.Event)) func(agent.Event) {
	return func(e agent.Event) {
		for _, f := range fs {
			f(e)
		}
	}
}

// MakeParent makes the folder in which a run directory and its effects file lie.
func MakeParent(dir string) error { return os.MkdirAll(filepath.Dir(dir), 0o700) }

// Remains is the report of the run in dir that failed or was cancelled, made of what it
// left; nil where it left nothing.
func Remains(m machine.Machine, dir string, failure error, cancelled bool) *report.Report {
	why := "the run ended early"
	if failure != nil {
		why = failure.Error()
	}
	rep, err := Salvager(m).Salvage(dir, why, cancelled)
	if err != nil {
		if !errors.Is(err, rundir.ErrNothing) {
			m.Log.Warn("report on what the run left", "dir", dir, "error", err)
		}
		return nil
	}
	return rep
}

// Salvager makes reports from run directories.
func Salvager(m machine.Machine) run.Salvager {
	return run.Salvager{Redact: redact.New(redact.SecretsFrom(m.Env)).Bytes, Now: m.Now, Log: m.Log}
}
