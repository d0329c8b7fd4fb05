package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockName is the file in a run's worktree folder that a live run keeps locked.
const lockName = ".lock"

// A Lock says that someone is at work. It ends with the process at the latest.
type Lock struct{ file *os.File }

// LockRun marks the worktree folder of a run as in use, so that Sweep keeps it.
// Every open Tree in it does so too; a run holds one for the time between.
func LockRun(ctx context.Context, dir string) (*Lock, error) {
	path := filepath.Join(dir, lockName)
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		l, err := acquire(ctx, path, syscall.LOCK_SH)
		if errors.Is(err, os.ErrNotExist) {
			continue // swept between the two steps
		}
		if err != nil {
			return nil, err
		}
		return l, touch(path)
	}
}

// touch sets a file's modification time to now.
func touch(path string) error {
	if err := unix.Utimes(path, nil); err != nil {
		return &os.PathError{Op: "touch", Path: path, Err: err}
	}
	return nil
}

// Release gives the lock up. It is safe to call twice and on nil.
func (l *Lock) Release() {
	if l != nil && l.file != nil {
		// Closing alone would not do while a process that is being forked has a copy of the file.
		_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)
		_ = l.file.Close()
		l.file = nil
	}
}

// ErrBusy means that another holds a lock.
var ErrBusy = errors.New("in use")

// LockFile locks a file, which it makes, for one holder alone. It waits as long as patience
// says while another holds it, and then returns [ErrBusy].
func LockFile(path string, patience time.Duration) (*Lock, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, ErrBusy)
	defer cancel()
	return acquire(ctx, path, syscall.LOCK_EX)
}

// acquire takes a lock on a file, which it makes, and waits while others hold it.
func acquire(ctx context.Context, path string, how int) (*Lock, error) {
	for {
		l, err := tryAcquire(path, how)
		if !errors.Is(err, ErrBusy) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tryAcquire takes a lock or returns [ErrBusy]. A lock on a file that was removed
// meanwhile is worth nothing, so that counts as busy too.
func tryAcquire(path string, how int) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			return nil, ErrBusy
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	ours, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(ours, there) {
		f.Close()
		return nil, ErrBusy
	}
	return &Lock{file: f}, nil
}
