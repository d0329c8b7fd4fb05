package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// topics are texts that "ycbot help" has beside the commands.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "environment", Short: "The variables that ycbot reads", Long: `The variables that ycbot reads. A flag takes precedence over a variable.

The model:
  YCBOT_MODEL      its name; without one the gate alone decides
  YCBOT_PROVIDER   model provider (default: the one whose key is set)
  YCBOT_BASE_URL   the provider's address, of a proxy or a server of your own
  YCBOT_API_KEY    the key; else the provider's own variable counts, such as
                   OPENAI_API_KEY or ANTHROPIC_API_KEY
  YCBOT_EFFORT     how long models may think: low, medium, high
  YCBOT_ROUTER, YCBOT_FAST_MODEL, YCBOT_SMART_MODEL, YCBOT_MODEL_IDLE, YCBOT_PRICES
                   see docs/models.md

Commands and agents (docs/run.md):
  YCBOT_SETUP_ENV  names of variables that setup commands are given
  YCBOT_EXEC, YCBOT_PERMISSIONS, YCBOT_FETCH_HOSTS
                   what agents may execute, do and fetch

GitHub:
  GITHUB_TOKEN, GH_TOKEN   for run --pr and --publish
  GITHUB_API_URL           the API of GitHub Enterprise, https://HOST/api/v3

ycbot's own files:
  YCBOT_HOME       default ~/.ycbot
  YCBOT_DEBUG      set: more is printed on standard error
  NO_COLOR         set: no colours

Traces for OpenTelemetry, off unless one of these is set:
  OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER, and the others of OTEL_*

The Action reads INPUT_* and GITHUB_*, the App what docs/operate.md lists.`},
		{Use: "exit-codes", Short: "What ycbot's exit codes mean", Long: `What ycbot's exit codes mean.

  ycbot run            0 PASS, 1 FAIL, 2 PARTIAL, 3 ERROR (no verdict), 130 cancelled;
                       with --fail-on 0 or 1, and 3 for ERROR
  ycbot action         0 the step passes, 1 a verdict that fails the step,
                       3 no verdict, 130 cancelled
  ycbot check          0 the run directory is intact, 3 it is not
  ycbot rerun          0 the same came out, 1 something differs, 3 it could not be run
  ycbot replay         0 the same report, 1 another one, 3 it could not be done
  ycbot verdict        0 PASS, 1 FAIL, 2 PARTIAL, 3 no verdict that counts
  ycbot permissions test   0 it would run, 1 it would be refused, 3 a file cannot be read
  ycbot doctor         0 no issue, 1 an issue
  ycbot backtest       0 all cases have their line, 3 it could not be done, 130 cancelled
  everything else      0 success, 3 error`},
		{Use: "verdicts", Short: "What PASS, FAIL, PARTIAL and ERROR mean", Long: `What the verdicts mean.

  PASS     It was built and its tests were run, on both sides; nothing that worked
           before is broken, what runnable lines it changes were probed, and each
           claim of an agent is in the log of what was executed.
  FAIL     Something is broken by this change, and was seen to be: a regression, a
           new test that fails, a build that only the head breaks, or a check of an
           agent that fails again in a clean copy of the head and not of the base.
  PARTIAL  Neither: something could not be verified. The report says what and why.
  ERROR    There is no verdict: something that ycbot needs failed.

PASS is only given for what ran. A requirement that is not met is never PASS.
docs/run.md has the details.`},
	}
}

// completeChoices has shells know the words that flags take.
func completeChoices(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if c, ok := f.Value.(*choice); ok {
			// The only error is that the flag is not there.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(c.words, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	for _, sub := range cmd.Commands() {
		completeChoices(sub)
	}
}
