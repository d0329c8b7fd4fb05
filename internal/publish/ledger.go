package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
)

// A Store keeps what a Ledger records, for longer than the process lives. The first
// value under a key counts; later ones may be kept or not.
type Store interface {
	Record(ctx context.Context, key, value string) error
	Lookup(ctx context.Context, key string) (value string, ok bool, err error)
}

// A Ledger makes effects happen once. A nil Ledger remembers nothing and looks
// everything up outside.
type Ledger struct{ Store Store }

// The first part of a key says what the value is. The strings are stored: do not change them.
const (
	intended = "intent/"   // about to be done; the value is "1"
	happened = "ref/"      // done; the value is the reference outside
	ended    = "finished/" // a run whose end was posted; the value is a Posted as JSON
)

// Once makes the effect called key happen, unless it is recorded that it did, and
// returns its reference. For the rest see [Ledger.Ensure].
func (l *Ledger) Once(ctx context.Context, key string, e Effect) (string, error) {
	if ref, ok, err := l.lookup(ctx, happened+key); err != nil || ok {
		return ref, err
	}
	return l.Ensure(ctx, key, e)
}

// tries are how often an effect is tried of which no one knows whether it happened.
const tries = 4

// An Effect is one thing that is made outside. Look returns its reference where it is there
// ("" for none), Act makes it, and Pause waits after a try that failed, the first being 1.
type Effect struct {
	Look, Act func(context.Context) (string, error)
	Pause     func(ctx context.Context, try int) error
}

// Ensure makes the effect called key be there now, and returns its reference: the one
// that Look finds outside, or the one that Act makes. What is recorded is not believed: it
// may have been deleted since, and a reference is only used for writing when it was seen to
// be ours. A refusal of Act's is final; after any other error no one knows whether it
// happened, so that after a pause Look is asked again, and Act tried once more.
func (l *Ledger) Ensure(ctx context.Context, key string, e Effect) (string, error) {
	if err := l.recordFirst(ctx, intended+key, "1"); err != nil {
		return "", err
	}
	var failed error
	for try := range tries {
		if try > 0 {
			if err := e.Pause(ctx, try); err != nil {
				return "", errors.Join(failed, err)
			}
		}
		ref, err := e.Look(ctx)
		if err != nil {
			return "", err
		}
		if ref == "" {
			ref, err = e.Act(ctx)
		}
		if err == nil {
			return ref, l.recordFirst(ctx, happened+key, ref)
		}
		failed = err
		if final(err) || ctx.Err() != nil {
			return "", failed
		}
	}
	if ref, err := e.Look(ctx); err == nil && ref != "" {
		return ref, l.recordFirst(ctx, happened+key, ref)
	}
	return "", failed
}

// final says that GitHub answered and did nothing, and would do nothing a moment later.
func final(err error) bool {
	until, _ := github.IsAway(err)
	return !until.IsZero() || refused(err) || github.IsUnauthorized(err) || github.IsValidation(err)
}

func (l *Ledger) lookup(ctx context.Context, key string) (string, bool, error) {
	if l == nil || l.Store == nil {
		return "", false, nil
	}
	v, ok, err := l.Store.Lookup(ctx, key)
	if err != nil {
		return "", false, fmt.Errorf("ledger %s: %w", key, err)
	}
	return v, ok, nil
}

func (l *Ledger) record(ctx context.Context, key, value string) error {
	if l == nil || l.Store == nil {
		return nil
	}
	if err := l.Store.Record(ctx, key, value); err != nil {
		return fmt.Errorf("ledger %s: %w", key, err)
	}
	return nil
}

// recordFirst records value unless there is one under key.
func (l *Ledger) recordFirst(ctx context.Context, key, value string) error {
	if _, ok, err := l.lookup(ctx, key); err != nil || ok {
		return err
	}
	return l.record(ctx, key, value)
}

// finishedKey names the end of a run. The verdict is part of it, so that a run that
// continued after its end was posted is posted again.
func finishedKey(t Target, rep *report.Report, e Ending) string {
	return fmt.Sprintf("%s/%s/%s/%s/%t", anyEndKey(t), rep.Verdict, rep.Outcome, e.Kind, e.Claims)
}

// anyEndKey names that some end of the run was posted.
func anyEndKey(t Target) string {
	return fmt.Sprintf("%s%s#%d@%s/%s/%s", ended, t.Repo, t.Number, t.HeadSHA, t.Job, t.RunID)
}

func (p *Publisher) finished(ctx context.Context, key string) (Posted, bool, error) {
	value, ok, err := p.Ledger.lookup(ctx, key)
	if err != nil || !ok {
		return Posted{}, false, err
	}
	var posted Posted
	if err := json.NewDecoder(strings.NewReader(value)).Decode(&posted); err != nil {
		return Posted{}, false, fmt.Errorf("ledger %s: %w", key, err)
	}
	return posted, true, nil
}

func (p *Publisher) setFinished(ctx context.Context, t Target, key string, posted Posted) error {
	value, err := json.Marshal(posted)
	if err != nil {
		return fmt.Errorf("ledger %s: %w", key, err)
	}
	if err := p.Ledger.record(ctx, key, string(value)); err != nil {
		return err
	}
	return p.Ledger.recordFirst(ctx, anyEndKey(t), "1")
}
