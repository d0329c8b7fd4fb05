package pullrun

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/publish"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Two processes do not post one run.
func TestEffectsOfALiveRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	first, err := OpenEffects(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenEffects(dir, time.Now); !errors.Is(err, rundir.ErrInUse) {
		t.Errorf("beside the first: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenEffects(dir, time.Now)
	if err != nil {
		t.Fatalf("after its end: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// A slow GitHub takes the begin of a run, and answers nothing after that.
type slow struct {
	publish.GitHub
	asked chan struct{}
}

func (slow) CheckRuns(context.Context, github.Repo, string, string) ([]github.CheckRun, error) {
	return nil, nil
}

func (slow) CreateCheckRun(_ context.Context, _ github.Repo, r github.CheckRun) (github.CheckRun, error) {
	r.ID = 1
	return r, nil
}

func (s slow) UpdateCheckRun(ctx context.Context, _ github.Repo, r github.CheckRun) (github.CheckRun, error) {
	close(s.asked)
	<-ctx.Done()
	return r, ctx.Err()
}

// A poster is closed though GitHub does not answer what it shows.
func TestCloseWhileShowing(t *testing.T) {
	t.Parallel()
	effects, err := OpenEffects(filepath.Join(t.TempDir(), "run"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var hours atomic.Int64
	m := machine.Machine{Now: func() time.Time { return time.Unix(3600*hours.Add(1), 0) }, Log: slog.New(slog.DiscardHandler)}
	hub := slow{asked: make(chan struct{})}
	poster := NewPoster(m, hub, Posting{Publish: config.Publish{Check: true}, Target: publish.Target{HeadSHA: "a", Job: "j"}}, effects, 0)
	if err := poster.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	poster.Observe(agent.Event{Type: agent.EventStageStart, Step: &agent.Step{Stage: "gate"}})
	<-hub.asked
	closed := make(chan error, 1)
	go func() { closed <- poster.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it is not closed")
	}
}

// Each key of publish reaches the publisher, in a process that takes over as well.
func TestKeysReachThePublisher(t *testing.T) {
	t.Parallel()
	for key := range reflect.TypeFor[config.Publish]().Fields() {
		var po, recalled Posting
		switch f := reflect.ValueOf(&po.Publish).Elem().FieldByIndex(key.Index); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString("a value")
		default:
			t.Fatalf("%s is a %s: have this test set one", key.Name, f.Kind())
		}
		stored, err := json.Marshal(po)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(stored, &recalled); err != nil || recalled.Publish != po.Publish {
			t.Errorf("%s is lost: %s, %v", key.Name, stored, err)
		}
		publisher := reflect.ValueOf(NewPoster(machine.Machine{}, nil, po, nil, 0).publisher).Elem()
		if f := publisher.FieldByName(key.Name); !f.IsValid() || f.IsZero() {
			t.Errorf("%s does not reach publish.Publisher: it wants a field of that name, and NewPoster to set it", key.Name)
		}
	}
}
