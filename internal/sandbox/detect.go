package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
)

// ModeAuto asks [Detect] for the best tier that the machine gives.
const ModeAuto = "auto"

// Options are what a sandbox is made from. Now and TempDir are required.
type Options struct {
	Mode       string           // "auto" (also when empty) or a tier that is required: "full", "strong", "basic", "none"
	PATH       string           // where bubblewrap is looked for; directories outside the system are not believed
	Home       string           // the operator's home directory, which must stay unreadable; may be empty
	TZ         string           // the operator's TZ; empty: commands get none
	TempDir    string           // where scratch directories are made
	Toolchains toolchains.Set   // what commands are given beside the system's programs
	Hide       []string         // paths that stay hidden where they lie in something that is shown, such as the program's data
	Now        func() time.Time // clock of Result.Started and Result.Duration
	Log        *slog.Logger     // may be nil

	// Shim is how this program is started to put limits, Landlock and seccomp on
	// a command from within: an absolute path and the arguments that make it
	// call [RunShim] with what follows. Without it those layers are missing.
	Shim   []string
	Limits Limits // what a command may use

	OutputLimit int64         // bytes a stream may have before its command is killed; 0: 256 MiB
	Grace       time.Duration // between SIGTERM and SIGKILL; 0: 2 s
}

const (
	defaultOutputLimit = 256 << 20
	defaultGrace       = 2 * time.Second
)

// Detect makes the sandbox that o.Mode asks for, after it was tried out on this
// machine. A mode that cannot be had is an error that says what to do; "auto"
// takes the best that works, at last tier none, and Status says why.
func Detect(ctx context.Context, o Options) (Sandbox, error) {
	if o.Now == nil || o.TempDir == "" {
		return nil, errors.New("sandbox: Now and TempDir are required")
	}
	if o.OutputLimit <= 0 {
		o.OutputLimit = defaultOutputLimit
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := prepareProcess(); err != nil {
		return nil, fmt.Errorf("sandbox: prepare process: %w", err)
	}
	switch o.Mode {
	case "", ModeAuto:
		return best(ctx, o)
	case string(TierNone):
		return newNone(o, "not asked for"), nil
	case string(TierBasic):
		box, err := newBasic(ctx, o, "not asked for")
		if err != nil {
			return nil, fmt.Errorf("sandbox tier basic: %w", err)
		}
		return box, nil
	case string(TierFull):
		box, err := newBubblewrap(ctx, o, true)
		if err != nil {
			return nil, fmt.Errorf("sandbox tier full: %w", err)
		}
		return box, nil
	case string(TierStrong):
		return nil, errors.New("sandbox tier strong: not available: the name is kept for later; ask for auto, full, basic or none")
	}
	return nil, fmt.Errorf("sandbox mode %q: want auto, full, strong, basic or none", o.Mode)
}

// best takes the first that works of what there is: namespaces with all layers
// that the shim can set up, those layers without namespaces, namespaces alone,
// nothing.
func best(ctx context.Context, o Options) (Sandbox, error) {
	bare := o
	bare.Shim = nil
	var why error
	tries := []func() (Sandbox, error){
		func() (Sandbox, error) { return newBubblewrap(ctx, o, false) },
	}
	if len(o.Shim) > 0 {
		tries = append(tries,
			func() (Sandbox, error) { return newBasic(ctx, o, why.Error()) },
			func() (Sandbox, error) { return newBubblewrap(ctx, bare, false) },
		)
	}
	for _, try := range tries {
		box, err := try()
		if err == nil {
			return box, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if why == nil || err.Error() != why.Error() { // two tiers may lack the same
			o.Log.WarnContext(ctx, "tier of isolation not available", "error", err)
		}
		if why == nil {
			why = err
		}
	}
	return newNone(o, why.Error()), nil
}
