package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
)

// A stage is what helpers of tests want of a test, where there is none.
type stage struct {
	testing.TB // what is not below is not called

	ctx      context.Context //nolint:containedctx // helpers ask it for one
	dir      string
	cleanups []func()
	err      error
}

// errMissing says that this machine lacks something.
var errMissing = errors.New("not measured")

// onStage calls f, which may use helpers of tests, and cleans up after them.
func onStage(ctx context.Context, dir string, f func(*stage) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stage{ctx: ctx, dir: dir}
	done := make(chan struct{})
	go func() { // helpers end the goroutine when they fail
		defer close(done)
		defer func() {
			for _, clean := range slices.Backward(s.cleanups) {
				clean()
			}
		}()
		if err := f(s); err != nil {
			s.err = err
		}
	}()
	<-done
	return s.err
}

func (s *stage) Helper()                  {}
func (s *stage) Context() context.Context { return s.ctx }
func (s *stage) Cleanup(f func())         { s.cleanups = append(s.cleanups, f) }

func (s *stage) TempDir() string {
	dir, err := os.MkdirTemp(s.dir, "stage-")
	if err != nil {
		s.Fatal(err)
	}
	return dir
}

func (s *stage) Fatal(args ...any) {
	s.err = errors.New(fmt.Sprint(args...))
	runtime.Goexit()
}

func (s *stage) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }

// Errorf notes the last one. It is called from other goroutines, too, when all is lost anyway.
func (s *stage) Errorf(format string, args ...any) { s.err = fmt.Errorf(format, args...) }

func (s *stage) Skip(args ...any) {
	s.err = fmt.Errorf("%w: %s", errMissing, fmt.Sprint(args...))
	runtime.Goexit()
}

func (s *stage) Skipf(format string, args ...any) { s.Skip(fmt.Sprintf(format, args...)) }
