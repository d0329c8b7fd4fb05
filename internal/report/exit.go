package report

// The exit codes of "ycbot run". Scripts depend on them: do not change them.
const (
	ExitPass      = 0
	ExitFail      = 1
	ExitPartial   = 2
	ExitError     = 3
	ExitCancelled = 130 // as a shell reports a program that SIGINT ended
)

// Exit returns the exit code of a run that ended with v and outcome.
//
// failOn is what the flag --fail-on says (fail, partial or never), empty where
// it was not given. With it the answer is 0 or 1, except that a cancelled run
// and a run without a verdict never look like either.
func Exit(v Verdict, failOn string, outcome Outcome) int {
	if outcome == Cancelled {
		return ExitCancelled
	}
	if v.Validate() != nil || v == Error {
		return ExitError
	}
	failed := v == Fail
	switch failOn {
	case "never":
		return ExitPass
	case "partial":
		failed = v != Pass
	case "fail":
	default:
		if v == Partial {
			return ExitPartial
		}
	}
	if failed {
		return ExitFail
	}
	return ExitPass
}
