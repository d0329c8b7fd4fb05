// Package disk bounds what a folder holds and what a run writes.
//
// A [Keeper] has what can be had again removed when its folder holds more than a quota or
// the disk has less room than a floor, and says when nothing more may be begun because
// that did not help. What is removed, and in which order, its [Trimmer]s know.
package disk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Trimmer removes what can be had again, the oldest first, until it has freed want
// bytes or there is no more. It says how much it freed.
type Trimmer func(ctx context.Context, want int64) (int64, error)

// A Keeper looks after a folder. It is safe for concurrent use.
type Keeper struct {
	Dir      string
	Quota    int64 // bytes that Dir may hold; 0: four fifths of what it holds and what is free
	Floor    int64 // bytes that must be free for anything to be begun
	Trimmers []Trimmer
	Free     func(dir string) (int64, error) // nil: folder.Free
	Now      func() time.Time
	Log      *slog.Logger

	tidying sync.Mutex // is held while Dir is measured and trimmed, which may take minutes
	mu      sync.Mutex
	last    time.Time // when that began
	status  Status
}

// A Status is how a folder was found.
type Status struct {
	Used, Free, Quota int64
	Full              error // why nothing may be begun; nil: it may
}

// again is how long what was measured is believed where it is too much.
const again = time.Minute

// Tidy measures, and removes what is too much.
func (k *Keeper) Tidy(ctx context.Context) error {
	k.tidying.Lock()
	defer k.tidying.Unlock()
	return k.tidy(ctx)
}

func (k *Keeper) tidy(ctx context.Context) error {
	k.mu.Lock()
	k.last = k.Now()
	k.mu.Unlock()
	s, err := k.measure(ctx)
	if err != nil {
		return err
	}
	var errs []error
	if over := k.over(s); over > 0 {
		over += s.Quota / 20 // so that it is not done again at once
		for _, trim := range k.Trimmers {
			freed, err := trim(ctx, over)
			errs = append(errs, err)
			if over -= freed; over <= 0 {
				break
			}
		}
		quota := s.Quota
		if s, err = k.measure(ctx); err != nil {
			return errors.Join(append(errs, err)...)
		}
		s.Quota = quota
	}
	s.Full = k.full(s)
	k.say(ctx, s)
	return errors.Join(errs...)
}

func (k *Keeper) measure(ctx context.Context) (s Status, err error) {
	if s.Used, err = folder.Usage(ctx, k.Dir); err == nil {
		s.Free, err = k.free()
	}
	if err != nil {
		return s, fmt.Errorf("disk usage of %s: %w", k.Dir, err)
	}
	if s.Quota = k.Quota; s.Quota <= 0 {
		s.Quota = (s.Used + s.Free) / 5 * 4
	}
	return s, nil
}

func (k *Keeper) free() (int64, error) {
	if k.Free != nil {
		return k.Free(k.Dir)
	}
	return folder.Free(k.Dir)
}

// over is how much is too much.
func (k *Keeper) over(s Status) int64 { return max(s.Used-s.Quota, k.Floor-s.Free) }

func (k *Keeper) full(s Status) error {
	switch {
	case s.Free < k.Floor:
		return fmt.Errorf("%s are free on the disk of the data, %s must be", Text(s.Free), Text(k.Floor))
	case s.Used > s.Quota:
		return fmt.Errorf("the data hold %s, %s are allowed", Text(s.Used), Text(s.Quota))
	}
	return nil
}

// say keeps a status, and logs when it becomes another.
func (k *Keeper) say(ctx context.Context, s Status) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch was := k.status.Full; {
	case was == nil && s.Full != nil:
		k.Log.ErrorContext(ctx, "no run is begun: there is too little room", "error", s.Full)
	case was != nil && s.Full == nil:
		k.Log.InfoContext(ctx, "runs are begun again: there is room", "free", s.Free, "used", s.Used)
	}
	k.status = s
}

// Room says why nothing may be begun; nil: it may. Where there is too little it has it
// made, once in a while.
func (k *Keeper) Room(ctx context.Context) error {
	free, err := k.free()
	if err != nil {
		return fmt.Errorf("free room: %w", err)
	}
	last, full := k.found()
	switch {
	case free >= k.Floor && full == nil:
		return nil
	case full != nil && k.Now().Sub(last) < again:
		return full
	case !k.tidying.TryLock():
		return errMaking
	}
	defer k.tidying.Unlock()
	if err := k.tidy(ctx); err != nil {
		k.Log.WarnContext(ctx, "cannot free disk space", "error", err)
	}
	_, full = k.found()
	return full
}

var errMaking = errors.New("room is being made on the disk")

func (k *Keeper) found() (last time.Time, full error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last, k.status.Full
}

// Status is what was found last, with the free room of now.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.status
	if free, err := k.free(); err == nil {
		s.Free = free
	}
	return s
}

// An OverError says that a run was ended because of what it wrote.
type OverError struct{ text string }

func (e *OverError) Error() string { return e.text }

// Watch looks at what a run writes in some folders until ctx ends, and returns an
// [*OverError] as soon as that is more than bound bytes (0: no bound), or the disk is so
// full that other programs suffer: when half the floor is left.
func (k *Keeper) Watch(ctx context.Context, every time.Duration, bound int64, dirs ...string) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if free, err := k.free(); err == nil && free < k.Floor/2 {
			return &OverError{"the disk of the machine is full: ask again later with /verify"}
		}
		if bound <= 0 {
			continue
		}
		used, err := folder.Usage(ctx, dirs...)
		if err != nil {
			continue // ctx has ended
		}
		if used > bound {
			return &OverError{fmt.Sprintf("the run has written %s, %s are allowed: builds and tests of this change fill the disk", Text(used), Text(bound))}
		}
	}
}

var sizePattern = pattern.New(`^([0-9]+(?:\.[0-9]+)?) ?([kKMGT]?)(i?)[bB]?$`)

// Parse reads a size such as 500MB, 20GB or 1.5GiB.
func Parse(s string) (int64, error) {
	m := sizePattern.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, fmt.Errorf("%q: want a size such as 20GB", s)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", s, err)
	}
	unit := 1000.0
	if m[3] != "" {
		unit = 1024
	}
	for range strings.Index("kMGT", strings.Replace(m[2], "K", "k", 1)) + 1 {
		if m[2] == "" {
			break
		}
		n *= unit
	}
	if n >= 1<<62 {
		return 0, fmt.Errorf("%q: %w", s, os.ErrInvalid)
	}
	return int64(n), nil
}

// Text is a size for people.
func Text(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, names := float64(n)/unit, "KMGTP"
	for v >= unit && len(names) > 1 {
		v, names = v/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %ciB", v, names[0])
}
