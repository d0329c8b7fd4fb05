// Eval measures agents: it has ycbot verify changes of which it is known
// whether they are good, and counts how often FAIL was right and how many bad
// ones were found.
//
//	go run ./test/eval -model M [-base-url URL] [-provider P] [-cases WORDS] [-pairs] [-jobs N] [-out DIR]
//	go run ./test/eval -provider script [-cases WORDS] [-jobs N] [-out DIR]
//
// The first form asks a real endpoint and costs money; the second plays the scripted
// verifier of each seeded case, offline, and shows that ycbot judges what it finds.
// docs/eval.md says more. The same command again continues where the last one ended.
// Exit codes: 0 each case has a verdict, and the right one with scripted verifiers; 1
// some have not; 3 it could not begin; 130 interrupted.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

const (
	exitOK          = 0
	exitNoVerdict   = 1
	exitSetup       = 3
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := eval(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags, with what the environment adds to them.
type options struct {
	model, provider, baseURL string
	cases, out, home, ycbot  string
	pairs                    bool
	jobs                     int
	maxCost                  float64
	env                      []string
}

// eval is main without its globals; it returns the exit code.
func eval(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	o, err := parse(args, env, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var e *evaluation
	if err == nil {
		e, err = prepare(ctx, o, stderr)
	}
	if err == nil {
		err = e.run(ctx)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "eval: interrupted; the same command goes on from here")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "eval:", strings.TrimSpace(err.Error()))
		return exitSetup
	}
	if _, err := fmt.Fprintf(stdout, "%s\n%s\n", e.results.text(), filepath.Join(o.out, "results.md")); err != nil {
		return exitSetup
	}
	if n := e.results.Total.NoVerdict; n > 0 {
		fmt.Fprintf(stderr, "eval: %d without a verdict; the same command tries again\n", n)
		return exitNoVerdict
	}
	if n := e.results.wrong(); o.scripted() && n > 0 {
		fmt.Fprintf(stderr, "eval: %d scripted cases are not judged as they should be\n", n)
		return exitNoVerdict
	}
	return exitOK
}

// scripted says whether each case has a verifier of its own.
func (o options) scripted() bool { return o.provider == "script" && o.baseURL == "" }

// parse reads the flags and says what is missing.
func parse(args, env []string, stderr io.Writer) (options, error) {
	o := options{env: env}
	f := flag.NewFlagSet("eval", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.model, "model", getenv(env, "YCBOT_MODEL"), "the `MODEL` that agents ask")
	f.StringVar(&o.provider, "provider", cmp.Or(getenv(env, "YCBOT_PROVIDER"), "openai"), "how it is asked, as of ycbot run: `openai`, openai:responses, anthropic or script")
	f.StringVar(&o.baseURL, "base-url", getenv(env, "YCBOT_BASE_URL"), "the provider's `URL`; of script, a scenario file (default: each case has a scripted verifier of its own, offline)")
	f.StringVar(&o.cases, "cases", "", "only cases whose names contain one of these `WORDS`, separated by commas")
	f.BoolVar(&o.pairs, "pairs", false, "also the release pairs; needs the module proxy")
	f.IntVar(&o.jobs, "jobs", 1, "how many cases are verified at a time, `N`")
	f.Float64Var(&o.maxCost, "max-cost-usd", 0, "cost limit of each case, `X` (default that of ycbot run)")
	f.StringVar(&o.out, "out", "", "results go to `DIR` (default $YCBOT_HOME/eval/MODEL); what is finished there is not run again")
	f.StringVar(&o.ycbot, "ycbot", "", "the `PROGRAM` to measure (default: built from this module)")
	f.StringVar(&o.home, "home", "", "YCBOT_HOME of the runs, `DIR`: its caches can be shared (default home in -out)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	openai := strings.HasPrefix(o.provider, "openai")
	if openai {
		o.baseURL = cmp.Or(o.baseURL, getenv(env, "OPENAI_BASE_URL"))
	}
	key := "ANTHROPIC_API_KEY"
	if openai {
		key = "OPENAI_API_KEY"
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.scripted() && o.pairs:
		return o, errors.New("-pairs: releases have no scripted verifiers; leave it out, or name a model")
	case o.scripted():
		o.model = "script"
	case o.provider == "script":
		o.model = "script"
		file, err := filepath.Abs(o.baseURL)
		if err != nil {
			return o, err
		}
		o.baseURL = file
	case o.model == "":
		return o, errors.New("no model is named: make eval MODEL=NAME, or go run ./test/eval -model NAME")
	case o.baseURL == "" && getenv(env, "YCBOT_API_KEY") == "" && getenv(env, key) == "":
		return o, fmt.Errorf("there is no key for %s: set YCBOT_API_KEY or %s, or name an endpoint that needs none with -base-url", o.model, key)
	}
	if o.jobs < 1 || o.maxCost < 0 {
		return o, errors.New("-jobs and -max-cost-usd: want numbers above zero")
	}
	return o, o.folders()
}

// folders makes the folders' names absolute.
func (o *options) folders() error {
	if o.out == "" {
		home := cmp.Or(getenv(o.env, "YCBOT_HOME"), filepath.Join(getenv(o.env, "HOME"), ".ycbot"))
		if !filepath.IsAbs(home) {
			return errors.New("neither YCBOT_HOME nor HOME is an absolute path: say where results go with -out DIR")
		}
		o.out = filepath.Join(home, "eval", regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(o.model, "-"))
	}
	o.home = cmp.Or(o.home, filepath.Join(o.out, "home"))
	var err error
	if o.out, err = filepath.Abs(o.out); err != nil {
		return err
	}
	if o.home, err = filepath.Abs(o.home); err != nil {
		return err
	}
	if o.ycbot != "" {
		o.ycbot, err = filepath.Abs(o.ycbot)
	}
	return err
}

// endpoint is the base URL without user, password and query.
func (o options) endpoint() string {
	u, err := url.Parse(o.baseURL)
	if err != nil || o.provider == "script" {
		return o.baseURL
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func getenv(env []string, name string) string {
	v := ""
	for _, kv := range env {
		if k, val, ok := strings.Cut(kv, "="); ok && k == name {
			v = val
		}
	}
	return v
}
