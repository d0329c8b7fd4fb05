// Package usage is a mistake of the user who started the program: a flag, an argument or a
// setting that cannot be used as it is given. The program points to its help then, which it
// does not for what a run cannot begin with: that is a UsageError of package rundir.
package usage

import (
	"errors"
	"fmt"
	"time"
)

// An Error is a mistake in the command line or in the settings.
type Error struct{ err error }

// Errorf makes an Error as [fmt.Errorf] makes an error.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

// Error implements error.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns what was wrapped, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.err }

// Duration reads a time limit, which is above zero.
func Duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, errors.New("want a duration such as 90s, 20m or 1h30m")
	}
	return d, nil
}
