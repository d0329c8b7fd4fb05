// Package host is the App in one process: the server, its workers, and what they need of
// GitHub, the sandbox and the model.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/internal/disk"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/orchestrator/route"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/telemetry"
	"github.com/ycbot/ycbot/internal/workspace"
)

// houseTime is how often chores are done.
const houseTime = time.Hour

// A service is the App in one process.
type service struct {
	m      machine.Machine
	door   pullrun.Door
	o      *Options
	db     *store.DB
	queue  *queue.Queue
	worker *app.Worker
	runner *run.Runner               // nil: this process does not work
	models *orchestrator.ModelConfig // nil: gate only
	keeper *disk.Keeper              // of the data; nil: this process does not work
	tidy   sync.Mutex                // held while folders of projects are removed, which locks them as runs do
	log    *slog.Logger

	metrics *telemetry.Metrics
	atEnd   func(func()) (stop func() bool) // has something be done when the process is asked to end
}

// Serve receives webhooks and works on what they call for, until ctx ends. The log is of
// the process; runs come in by door.
func Serve(ctx context.Context, m machine.Machine, door pullrun.Door, o Options) error {
	s, err := newService(ctx, m, door, &o)
	if err != nil {
		return err
	}
	defer s.close()
	server := &app.Server{
		Secret: []byte(o.Secret), Previous: []byte(o.SecretBefore), Queue: s.queue, Installed: s.installed, Rules: s.worker.Rules, Allow: o.Allow, Ready: s.ready, Idle: s.idle, Fresh: s.worker.Hasten, Spool: o.Data, Now: m.Now, Log: s.log,
		Metrics: s.metrics, Separate: o.MetricsAddr != "",
	}
	if server.Pages, err = s.pages(ctx, server); err != nil {
		return err
	}
	handler, err := server.Handler()
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Addr)
	if err != nil {
		return fmt.Errorf("YCBOT_ADDR: %w", err)
	}
	missed, err := s.missed()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.log.InfoContext(ctx, "listening", "addr", l.Addr().String(), "works", s.runner != nil, "version", m.Version)
	return s.run(ctx, func(ctx context.Context) error { return app.Serve(ctx, l, handler, s.log) },
		app.Chore{Name: "missed deliveries", Do: missed.Ask})
}

// Work works on what servers have stored, until ctx ends.
func Work(ctx context.Context, m machine.Machine, door pullrun.Door, o Options) error {
	s, err := newService(ctx, m, door, &o)
	if err != nil {
		return err
	}
	defer s.close()
	s.log.InfoContext(ctx, "working", "workers", o.Workers, "version", m.Version)
	return s.run(ctx, nil)
}

// newService opens and makes all that a process of the App needs.
func newService(ctx context.Context, m machine.Machine, door pullrun.Door, o *Options) (_ *service, err error) {
	s := &service{m: m, door: door, o: o, log: m.Log, metrics: telemetry.NewMetrics(m.Version, m.Now)}
	s.atEnd = func(f func()) func() bool { return context.AfterFunc(ctx, f) }
	if s.db, err = openStore(ctx, m, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.db.Close())
		}
	}()
	if !o.NoWork {
		if err := s.equip(ctx); err != nil {
			return nil, err
		}
	} else {
		o.Workers = 0
	}
	s.worker = app.NewWorker(app.Worker{
		DB: s.db, Hosts: s.host, Installed: s.installed, Rules: job.Rules{App: true, AppID: o.ID}, Allow: o.Allow, Runs: filepath.Join(o.Data, "runs"), PublicURL: o.PublicURL,
		NewRun: func() string { return rundir.NewID(m.Now()) }, Now: m.Now, Log: s.log, Metrics: s.metrics,
	})
	if s.runner != nil {
		s.keeper = s.newKeeper()
		s.worker.Room = s.room
		s.metrics.Disk(func() telemetry.Disk {
			d := s.keeper.Status()
			return telemetry.Disk{Used: d.Used, Free: d.Free, Quota: d.Quota, Full: d.Full != nil}
		})
	}
	s.queue, err = queue.New(s.db, queue.Options{
		Workers: o.Workers, PerRepo: o.PerRepo, PerInstallation: o.PerInstallation, GaveUp: s.worker.GiveUp, Drain: o.Drain, Log: s.log,
	})
	s.worker.Queue = s.queue
	s.metrics.Queue(s.jobs)
	return s, err
}

// jobs says how the queue is.
func (s *service) jobs(ctx context.Context) (telemetry.Jobs, error) {
	depth, err := s.queue.Depth(ctx)
	if err != nil {
		return telemetry.Jobs{}, err
	}
	oldest, err := s.queue.Oldest(ctx)
	j := telemetry.Jobs{Waiting: depth[queue.Waiting], Working: depth[queue.Working]}
	if !oldest.IsZero() {
		j.Oldest = max(0, s.m.Now().Sub(oldest))
	}
	return j, err
}

// equip makes what runs need. ycbot's own files are below the data.
func (s *service) equip(ctx context.Context) (err error) {
	m := s.m
	m.Env = append(slices.Clone(m.Env), "YCBOT_HOME="+filepath.Join(s.o.Data, "home"))
	if s.models, err = route.Models(m, route.Settings{}); err != nil {
		return err
	}
	settings := machine.Settings{Remote: true, Sandbox: s.o.Sandbox, Network: s.o.Network}
	if settings.Agents, err = machine.OperatorAgents(s.o.AgentsDir); err != nil {
		return err
	}
	if s.runner, _, err = m.Runner(ctx, settings); err != nil {
		return err
	}
	s.metrics.Sandbox(string(s.runner.Sandbox.Status().Tier))
	if tier := s.runner.Sandbox.Status().Tier; tier != sandbox.TierFull {
		s.log.WarnContext(ctx, "tier full of the sandbox is unavailable or was not requested: untrusted heads are not executed; see ycbot sandbox doctor", "tier", tier)
	}
	if s.models != nil && s.o.Operator != nil {
		s.models.MaxTokens, s.models.MaxCostUSD = s.o.Operator.Limits.Tokens, s.o.Operator.Limits.CostUSD
	}
	return nil
}

// ready says why a delivery could not be stored, its row or its body until it is checked, or
// what its run produces.
func (s *service) ready(ctx context.Context) error {
	return errors.Join(s.db.Storable(ctx), disk.Writable(s.o.Data), s.db.BlobsStorable(ctx))
}

// blobsTime is how often it is looked whether blobs can be stored again.
const blobsTime = time.Second

// room waits until what a run produces can be stored, and says why there is no room for it
// on this machine.
func (s *service) room(ctx context.Context) error {
	err := s.db.BlobsStorable(ctx)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "no run is begun: blobs cannot be stored", "error", err)
	}
	for tick := time.NewTicker(blobsTime); err != nil; err = s.db.BlobsStorable(ctx) {
		select {
		case <-ctx.Done():
			tick.Stop()
			return err
		case <-tick.C:
		}
	}
	return s.keeper.Room(ctx)
}

// idle says why no run is begun; nil: runs are, or this process does not work.
func (s *service) idle() error {
	if s.keeper == nil {
		return nil
	}
	return s.keeper.Status().Full
}

func (s *service) close() {
	if err := s.db.Close(); err != nil {
		s.log.Warn("close database", "error", err)
	}
}

// run serves, works, answers and keeps house until ctx ends: then what runs may go on
// for a while, and is handed back.
func (s *service) run(ctx context.Context, serve func(context.Context) error, chores ...app.Chore) error {
	chores = append(chores,
		app.Chore{Name: "runs without a worker", Do: s.worker.Orphans},
		app.Chore{Name: "results that were not published", Do: func(ctx context.Context) error { return s.worker.PublishEnded(ctx, "") }},
		app.Chore{Name: "search by tests", Do: s.worker.Index},
		app.Chore{Name: "retention", Do: func(ctx context.Context) error { return s.sweep(ctx) }})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.queue.Run(ctx, s.worker.Work) })
	group.Go(func() error { s.worker.Answer(ctx); return nil })
	group.Go(func() error { app.Keep(ctx, houseTime, s.log, chores...); return nil })
	group.Go(func() error { // beside the others, as moving what is old may take hours
		app.Keep(ctx, houseTime, s.log, app.Chore{Name: "blobs", Do: s.db.TidyBlobs})
		return nil
	})
	if s.keeper != nil {
		group.Go(func() error {
			app.Keep(ctx, diskTime, s.log, app.Chore{Name: "room on the disk", Do: s.keeper.Tidy})
			return nil
		})
	}
	if s.o.MetricsAddr != "" {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.o.MetricsAddr)
		if err != nil {
			return fmt.Errorf("YCBOT_METRICS_ADDR: %w", err)
		}
		s.log.InfoContext(ctx, "metrics", "addr", l.Addr().String())
		watched := app.Operations{Ready: s.ready, Idle: s.idle, Metrics: s.metrics, Log: s.log}
		group.Go(func() error { return app.Serve(ctx, l, watched.Handler(), s.log) })
	}
	if serve != nil {
		group.Go(func() error { s.listen(ctx); return nil })
		group.Go(func() error { s.worker.Announce(ctx); return nil })
		group.Go(func() error { return serve(ctx) })
	}
	err := group.Wait()
	s.log.InfoContext(ctx, "ended", "error", err)
	return err
}

// sweep removes what is older than the retention, and what crashes left.
func (s *service) sweep(ctx context.Context) error {
	before := s.m.Now().Add(-s.o.KeepFor)
	err := s.worker.Sweep(ctx, before)
	if s.runner != nil {
		s.tidy.Lock()
		defer s.tidy.Unlock()
		_, swept := workspace.Sweep(ctx, s.runner.Home, workspace.TempAge, s.m.Now(), s.log)
		_, pruned := workspace.Prune(ctx, s.runner.Git, s.runner.Home, s.log)
		err = errors.Join(err, swept, pruned, workspace.SweepTemp(ctx, filepath.Join(s.runner.Home, "tmp"), s.m.Now().Add(-workspace.TempAge)))
	}
	return errors.Join(err, sweepRuns(ctx, filepath.Join(s.o.Data, "runs"), before))
}

// missed asks for deliveries again that did not arrive.
func (s *service) missed() (*app.Missed, error) {
	client, err := s.client(job.Job{}, github.Permissions{})
	if err != nil {
		return nil, err
	}
	known := func(ctx context.Context, guid string) (bool, error) {
		_, ok, err := s.db.Delivery(ctx, guid)
		return ok, err
	}
	return &app.Missed{Hooks: hooks{client}, Known: known, Now: s.m.Now, Log: s.log}, nil
}

// hooks is GitHub as [app.Missed] sees it.
type hooks struct{ client *github.Client }

// Deliveries implements [app.Hooks].
func (h hooks) Deliveries(ctx context.Context, since time.Time) ([]app.Delivery, error) {
	all, err := h.client.HookDeliveries(ctx, since)
	if errors.Is(err, github.ErrCut) {
		err = nil // the rest is old
	}
	out := make([]app.Delivery, len(all))
	for i, d := range all {
		out[i] = app.Delivery{ID: d.ID, GUID: d.GUID, Status: d.Status}
	}
	return out, err
}

// Redeliver implements [app.Hooks].
func (h hooks) Redeliver(ctx context.Context, id int64) error { return h.client.Redeliver(ctx, id) }
