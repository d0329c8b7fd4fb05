package publish

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
)

// memory is a Store as the journal is one: the first value under a key counts.
type memory map[string]string

func (m memory) Record(_ context.Context, key, value string) error {
	if _, ok := m[key]; !ok {
		m[key] = value
	}
	return nil
}

func (m memory) Lookup(_ context.Context, key string) (string, bool, error) {
	v, ok := m[key]
	return v, ok, nil
}

// outside counts what happened there.
type outside struct {
	refs   []string
	acts   int
	looks  int
	pauses []int
	fail   []error // of the first acts, after they happened
	hard   []error // of the first acts, which do nothing then
}

func (o *outside) look(context.Context) (string, error) {
	o.looks++
	if len(o.refs) > 0 {
		return o.refs[0], nil
	}
	return "", nil
}

func (o *outside) act(context.Context) (string, error) {
	o.acts++
	if len(o.hard) > 0 {
		err := o.hard[0]
		o.hard = o.hard[1:]
		return "", err
	}
	o.refs = append(o.refs, "ref")
	if len(o.fail) > 0 {
		err := o.fail[0]
		o.fail = o.fail[1:]
		return "", err
	}
	return "ref", nil
}

func (o *outside) effect() Effect {
	return Effect{o.look, o.act, func(_ context.Context, try int) error {
		o.pauses = append(o.pauses, try)
		return nil
	}}
}

// TestOnce: whatever is lost, the effect is there once, and its reference known.
func TestOnce(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection reset")
	for _, c := range []struct {
		name        string
		out         outside
		refs, looks int
	}{
		{"new", outside{}, 1, 1},
		{"there already", outside{refs: []string{"ref"}}, 1, 1},
		{"answer lost", outside{fail: []error{lost}}, 1, 2},
		{"nothing happened", outside{hard: []error{lost}}, 1, 2},
		{"nothing happened, then answer lost", outside{hard: []error{lost}, fail: []error{lost}}, 1, 3},
		{"nothing happened three times", outside{hard: []error{lost, lost, lost}}, 1, 4},
	} {
		m := memory{}
		l := &Ledger{Store: m}
		for _, again := range []bool{false, true} {
			ref, err := l.Once(t.Context(), "k", c.out.effect())
			if err != nil || ref != "ref" || len(c.out.refs) != c.refs || c.out.looks != c.looks || len(c.out.pauses) != c.looks-1 {
				t.Errorf("%s, again %t: %q, %v; %d refs, want %d; %d looks, want %d", c.name, again, ref, err, len(c.out.refs), c.refs, c.out.looks, c.looks)
			}
		}
		if m["intent/k"] != "1" || m["ref/k"] != "ref" {
			t.Errorf("%s: recorded %v", c.name, m)
		}
	}
}

// TestOnceRefused: what GitHub refused is not tried again, and may be later.
func TestOnceRefused(t *testing.T) {
	t.Parallel()
	later := outside{hard: []error{&github.LimitError{Until: time.Unix(1, 0)}}}
	if _, err := (&Ledger{Store: memory{}}).Once(t.Context(), "k", later.effect()); err == nil || later.acts != 1 || len(later.pauses) != 0 {
		t.Errorf("GitHub wants to be asked later: %v after %d tries", err, later.acts)
	}
	out := outside{hard: []error{&github.Error{Status: 403}}}
	l := &Ledger{Store: memory{}}
	if _, err := l.Once(t.Context(), "k", out.effect()); !refused(err) || out.acts != 1 {
		t.Errorf("%v after %d tries", err, out.acts)
	}
	if ref, err := l.Once(t.Context(), "k", out.effect()); err != nil || ref != "ref" {
		t.Errorf("later: %q, %v", ref, err)
	}
	// Without memory all is looked up.
	var none *Ledger
	if ref, err := none.Once(t.Context(), "k", out.effect()); err != nil || ref != "ref" || len(out.refs) != 1 {
		t.Errorf("no ledger: %q, %v, %d refs", ref, err, len(out.refs))
	}
}

// TestIntentComesFirst: nothing is done that could not be recorded before.
func TestIntentComesFirst(t *testing.T) {
	t.Parallel()
	var out outside
	l := &Ledger{Store: full{}}
	if _, err := l.Once(t.Context(), "k", out.effect()); !errors.Is(err, errFull) || out.acts != 0 {
		t.Errorf("%v after %d acts", err, out.acts)
	}
}

var errFull = errors.New("disk full")

type full struct{ memory }

func (full) Record(context.Context, string, string) error { return errFull }

// TestNoPause: where there is no time to wait, an effect of which no one knows is not tried again.
func TestNoPause(t *testing.T) {
	t.Parallel()
	lost := &github.Error{Status: 502}
	out := outside{hard: []error{lost}}
	e := out.effect()
	e.Pause = func(context.Context, int) error { return context.Canceled }
	if _, err := (&Ledger{Store: memory{}}).Once(t.Context(), "k", e); !errors.Is(err, lost) || !errors.Is(err, context.Canceled) || out.acts != 1 || out.looks != 1 {
		t.Errorf("%v after %d tries and %d looks", err, out.acts, out.looks)
	}
}
