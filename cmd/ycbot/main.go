// Ycbot verifies a change by running it: it builds, tests and attacks the
// change, compares it with the base, and shows the commands and outputs that
// its verdict rests on.
//
//	ycbot run             verify HEAD against the default branch
//	ycbot demo            verify two sample pull requests, offline
//	ycbot check           recompute the verdict of a finished run
//	ycbot rerun           run the recorded commands of a finished run again
//	ycbot replay          drive a finished run again with its recorded model
//	ycbot publish         post a finished run
//	ycbot action          the GitHub Action step
//	ycbot app             the GitHub App: server, workers, database
//	ycbot agents          who takes part, and what a definition means
//	ycbot tasks           the agents of runs, and how to stop them
//	ycbot worktree sweep  remove what crashed runs left behind
//	ycbot sandbox doctor  show how commands are contained on this machine
//	ycbot backtest        find out what it would have said of past changes
//	ycbot config          check a configuration, and see what it comes to
//	ycbot doctor          look at everything that a run needs here
//	ycbot version
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/redirect"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox/attack"
	"github.com/ycbot/ycbot/internal/telemetry"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/usage"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == attackCommand {
		os.Exit(attack.Main(context.Background(), os.Args[2:], time.Now, os.Stdout, os.Stderr))
	}
	env := os.Environ()
	if err := keepPrivate(env); err != nil {
		fmt.Fprintln(os.Stderr, "ycbot: keep secrets private: "+err.Error())
		os.Exit(report.ExitError)
	}
	os.Exit(ycbot(os.Args[1:], program{
		env: env, stdin: os.Stdin, stdout: terminal.NewConsole(os.Stdout, env), stderr: terminal.NewConsole(os.Stderr, env), now: time.Now, client: newClient(), platform: runtime.GOOS + "/" + runtime.GOARCH, shim: shim(),
	}))
}

// idleConns is how many connections to one host are kept for the next request: as
// many as agents are likely to ask their model at the same time.
const idleConns = 16

func newClient() *http.Client {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return redirect.Client(http.DefaultClient)
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = idleConns
	return redirect.Client(&http.Client{Transport: t}) // what it sends is the secret of login and models, too
}

// A program is what the commands are given of the process they run in.
type program struct {
	env            []string // as os.Environ has it
	stdin          io.Reader
	stdout, stderr *terminal.Console
	now            func() time.Time
	platform       string
	client         *http.Client
	shim           []string           // how the sandbox starts this program as its shim
	quiet, verbose bool               // how much is printed on standard error
	code           int                // exit code of a command that did its work
	logger         *slog.Logger       // of the App; nil: see log
	traces         *telemetry.Tracing // nil: no one asked for them
}

// getenv returns the value of a variable, and "" where it is not set.
func (p *program) getenv(name string) string { return machine.Getenv(p.env, name) }

func (p *program) log() *slog.Logger {
	if p.logger != nil {
		return p.logger
	}
	level := p.logLevel(slog.LevelWarn)
	if level < slog.LevelWarn {
		return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
	}
	return terminal.NewLog(p.stderr, level)
}

// logLevel is usual, or lower where someone looks for a fault.
func (p *program) logLevel(usual slog.Level) slog.Level {
	switch {
	case p.getenv("YCBOT_DEBUG") != "":
		return slog.LevelDebug
	case p.quiet:
		return slog.LevelError
	case p.verbose:
		return slog.LevelInfo
	}
	return usual
}

// signaled is the cause of a context that a signal ended.
type signaled struct{ sig os.Signal }

func (e *signaled) Error() string { return "received " + signalName(e.sig) }

// stoppedBy is the signal that ended a context; nil: none did.
func stoppedBy(ctx context.Context) *signaled {
	var sig *signaled
	errors.As(context.Cause(ctx), &sig)
	return sig
}

func signalName(sig os.Signal) string {
	if sig == os.Interrupt {
		return "an interrupt (Ctrl-C)"
	}
	return sig.String()
}

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP
// cancels. The second one ends the process at once. One that was ignored when the process
// began stays so, as nohup has it.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(ch, sig)
		}
	}
	go func() {
		if sig, ok := <-ch; ok {
			signal.Stop(ch)
			cancel(&signaled{sig})
		}
	}()
	return ctx, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

// ycbot is main without its globals; it returns the exit code.
func ycbot(args []string, p program) int {
	ctx, stop := interruptible()
	defer stop()
	root := rootCommand(&p)
	root.SetArgs(args)
	defer p.openTraces(ctx)()
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return p.code
	}
	sig := stoppedBy(ctx)
	if sig != nil && errors.Is(err, context.Canceled) {
		err = sig
	}
	fmt.Fprintln(p.stderr, "ycbot: "+terminal.PrintableLines(oneLine(err)))
	var wrong *usage.Error
	if errors.As(err, &wrong) {
		fmt.Fprintf(p.stderr, "See %q.\n", cmd.CommandPath()+" --help")
	}
	if sig != nil {
		return report.ExitCancelled
	}
	return report.ExitError
}

// rootCommand is the command line: all commands, and what can be read about them.
func rootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:           "ycbot",
		Short:         "Verify a change by running it, and show the evidence",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.PersistentFlags().BoolVarP(&p.quiet, "quiet", "q", false, "print only the result and errors")
	root.PersistentFlags().BoolVarP(&p.verbose, "verbose", "v", false, "also print agent messages and tool calls")
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		runCommand(p),
		demoCommand(p),
		checkCommand(p),
		rerunCommand(p),
		replayCommand(p),
		publishCommand(p),
		verdictCommand(p),
		actionCommand(p),
		appCommand(p),
		agentsCommand(p),
		gateCommand(p),
		backtestCommand(p),
		permissionsCommand(p),
		initCommand(p),
		configCommand(p),
		tasksCommand(p),
		worktreeCommand(p),
		sandboxCommand(p),
		doctorCommand(p),
		versionCommand(p),
	)
	root.AddCommand(topics()...)
	root.Version = version()
	root.SetVersionTemplate(p.versionLine())
	checkedHelp(root)
	completeChoices(root)
	return root
}

func flagError(cmd *cobra.Command, err error) error {
	// The flag of a command whose name is misspelled is unknown to the one that has no such command.
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		return noArgs(cmd, words)
	}
	text := err.Error()
	var word *strconv.NumError
	if errors.As(err, &word) && word.Func == "ParseBool" {
		return usage.Errorf("%s: want true or false", strings.TrimSuffix(text, ": "+word.Error()))
	}
	if errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange) {
		return usage.Errorf("%s: want a number", strings.TrimSuffix(text, ": "+errors.Unwrap(err).Error()))
	}
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		if near := nearestFlag(cmd, name); near != "" {
			return usage.Errorf("unknown flag --%s: did you mean --%s?", name, near)
		}
		return usage.Errorf("unknown flag --%s", name)
	}
	return usage.Errorf("%w", err)
}

// checkedHelp has "ycbot help NAME" fail where there is no NAME, which cobra answers with
// the help of the root.
func checkedHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		c.Run = nil
		c.RunE = func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil {
				return usage.Errorf("%w", err)
			}
			if len(rest) > 0 && about.HasSubCommands() {
				return noArgs(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		}
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		text := fmt.Sprintf("unknown command %q", args[0])
		cmd.SuggestionsMinimumDistance = 2
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			text += fmt.Sprintf(": did you mean %q?", near[0])
		}
		return usage.Errorf("%s", text)
	}
	return usage.Errorf("unexpected argument %q", args[0])
}

// oneLine keeps a message on one line where it is short; lists of problems stay
// as they are.
func oneLine(err error) string {
	text := strings.TrimSpace(err.Error())
	var file *fs.PathError
	switch {
	case !errors.Is(err, syscall.ENOSPC):
	case errors.As(err, &file) && file.Path == os.Stdout.Name():
		text += ": standard output takes no more: make room where it goes, or send it elsewhere"
	default:
		text += ": make room there, or have ycbot's files elsewhere (YCBOT_HOME, --out)"
	}
	return text
}
