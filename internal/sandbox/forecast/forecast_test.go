package forecast

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// A trial is a sandbox that gives what it says, and counts its commands.
type trial struct {
	status sandbox.Status
	ran    int
}

func (t *trial) Status() sandbox.Status { return t.status }

func (t *trial) Run(context.Context, sandbox.Command) (sandbox.Result, error) {
	t.ran++
	return sandbox.Result{}, nil
}

func gave(tier sandbox.Tier, layers ...string) sandbox.Status {
	return sandbox.Status{Tier: tier, Layers: layers, SelfTest: []sandbox.Canary{{Name: "read a file outside", Held: true}}}
}

// What the last run found is taken for what there is, but no command is run before
// the sandbox was tried out this time too, and none when it came to something else.
func TestForecast(t *testing.T) {
	t.Parallel()
	full := gave(sandbox.TierFull, "pid namespace", "landlock")
	for name, c := range map[string]struct {
		machine string
		now     sandbox.Status
		err     error
		waits   bool // for the trial, because nothing is known
		refused bool
	}{
		"the same":         {"here", full, nil, false, false},
		"another machine":  {"there", gave(sandbox.TierBasic, "landlock"), nil, true, false},
		"unknown machine":  {"", full, nil, true, false},
		"a weaker tier":    {"here", gave(sandbox.TierBasic, "landlock"), nil, false, true},
		"a layer less":     {"here", gave(sandbox.TierFull, "pid namespace"), nil, false, true},
		"it does not work": {"here", sandbox.Status{}, errors.New("no bubblewrap"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), File)
			first := &trial{status: full}
			if _, err := Begin(t.Context(), file, "here", func(context.Context) (sandbox.Sandbox, error) { return first, nil }); err != nil {
				t.Fatal(err)
			}
			now, gate := &trial{status: c.now}, make(chan struct{})
			if c.waits {
				close(gate)
			}
			box, err := Begin(t.Context(), file, c.machine, func(context.Context) (sandbox.Sandbox, error) {
				<-gate
				return now, c.err
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.waits {
				if box != sandbox.Sandbox(now) {
					t.Errorf("it was not waited for: %+v", box.Status())
				}
				return
			}
			if !gives(box.Status(), full) {
				t.Errorf("expected %+v", box.Status())
			}
			Wait(box) // for nothing: no command was announced
			ran := make(chan error, 1)
			go func() {
				_, err := box.Run(t.Context(), sandbox.Command{})
				ran <- err
			}()
			select {
			case err := <-ran:
				t.Fatalf("a command did not wait: %v", err)
			default:
			}
			close(gate)
			if err := <-ran; (err != nil) != c.refused || now.ran != map[bool]int{true: 0, false: 1}[c.refused] {
				t.Errorf("%d commands were run: %v", now.ran, err)
			}
			if _, err := os.Stat(file); c.refused != errors.Is(err, os.ErrNotExist) {
				t.Errorf("what is kept: %v", err)
			}
		})
	}
}

// A command that waits for the trial ends with its context.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	f := &expected{found: make(chan struct{}), leave: func() {}, detect: func() (sandbox.Sandbox, error) {
		<-t.Context().Done()
		return nil, t.Context().Err()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Run(ctx, sandbox.Command{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// The trial begins when commands are announced, and not before, and is waited for.
func TestTriedOutWhenAnnounced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tried, gate := 0, make(chan struct{})
		f := &expected{found: make(chan struct{}), leave: func() {}, detect: func() (sandbox.Sandbox, error) {
			tried++
			<-gate
			return &trial{}, nil
		}}
		Abandon(f)
		synctest.Wait()
		if tried != 0 {
			t.Fatal("it was tried out for no command")
		}
		sandbox.Announce(f)
		sandbox.Announce(f)
		waited := false
		go func() {
			Wait(f)
			waited = true
		}()
		synctest.Wait()
		if tried != 1 || waited {
			t.Errorf("tried out %d times, waited for: %t", tried, !waited)
		}
		close(gate)
		synctest.Wait()
		if !waited || f.box == nil {
			t.Error("the trial has no end")
		}
	})
}

// What the outcome depends on is part of the machine's name.
func TestMachine(t *testing.T) {
	t.Parallel()
	shim := filepath.Join(t.TempDir(), "ycbot")
	write(t, shim, "one")
	o := sandbox.Options{Mode: "auto", PATH: "/usr/bin", Shim: []string{shim, "x"}}
	was := Machine(o)
	if was == "" {
		t.Skip("this machine has no name")
	}
	if Machine(o) != was {
		t.Error("the same machine has two names")
	}
	other := o
	other.Mode = "full"
	write(t, shim, "another")
	if Machine(o) == was || Machine(other) == Machine(o) {
		t.Error("another program, or another mode, is the same machine")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Runs that begin at the same time in one home each keep what they found.
func TestForecastOfSeveralRuns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), File)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if err := keep(file, finding{Machine: "here", Status: gave(sandbox.TierFull)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
