package agent

import (
	"errors"
	"fmt"
)

// unavailable is the isolation of a subagent that was not given what its work
// needs, and so did none.
const unavailable = "unavailable"

// Why there is no worktree. The strings are stored: do not change them.
const (
	NoGit      = "no_git"
	NotARepo   = "not_a_repo"
	NotCreated = "create_failed"
)

// An IsolationError is what Provision returns for a subagent that has to have a
// worktree and cannot have one: it never works without.
type IsolationError struct {
	Reason string // one of the constants
	Err    error
}

func (e *IsolationError) Error() string {
	return fmt.Sprintf("isolation_unavailable (%s): %v", e.Reason, e.Err)
}

// Unwrap returns what went wrong.
func (e *IsolationError) Unwrap() error { return e.Err }

// notProvided is the isolation of a subagent whose environment could not be provided.
func notProvided(err error) string {
	if isolated := (*IsolationError)(nil); errors.As(err, &isolated) {
		return fmt.Sprintf("%s(%s)", unavailable, isolated.Reason)
	}
	return unavailable
}
