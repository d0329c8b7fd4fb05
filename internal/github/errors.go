package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"
)

// ErrCut says that a list was longer than what is read of it. What was read is
// returned beside it.
var ErrCut = errors.New("the list goes on")

// An Error is a refusal by GitHub.
type Error struct {
	Status  int // of HTTP
	Message string
	Details []string // what is wrong with which field

	uninstalled bool // there is no token, as the installation is gone or suspended
}

// Error is such as "403 Resource not accessible by integration".
func (e *Error) Error() string {
	s := strconv.Itoa(e.Status) + " " + e.Message
	if len(e.Details) > 0 {
		s += " (" + strings.Join(e.Details, "; ") + ")"
	}
	return s
}

// A LimitError says that GitHub wants fewer calls for longer than it is worth
// waiting, or went on wanting it.
type LimitError struct {
	Until time.Time // when to try again
}

// Error names the time.
func (e *LimitError) Error() string {
	return "rate limit: try again after " + e.Until.UTC().Format(time.RFC3339)
}

// errNoAnswer says that the connection, and not GitHub, refused.
type errNoAnswer struct{ err error }

func (e *errNoAnswer) Error() string { return e.err.Error() }
func (e *errNoAnswer) Unwrap() error { return e.err }

// IsAway reports whether GitHub did not answer, had an error of its own, or wants to be asked later,
// and when where it names a time.
func IsAway(err error) (until time.Time, away bool) {
	var limit *LimitError
	var none *errNoAnswer
	var e *Error
	switch {
	case errors.As(err, &limit):
		return limit.Until, true
	case errors.As(err, &none) || errors.Is(err, context.DeadlineExceeded):
		return time.Time{}, true
	}
	return time.Time{}, errors.As(err, &e) && e.Status >= 500
}

// IsNotFound reports whether GitHub does not know it, or does not let the token see it.
func IsNotFound(err error) bool { return hasStatus(err, http.StatusNotFound, http.StatusGone) }

// IsForbidden reports whether the token may not do it. Rate limits do not count.
func IsForbidden(err error) bool { return hasStatus(err, http.StatusForbidden) }

// IsUnauthorized reports whether the token is wrong or no longer valid, or the
// App not installed.
func IsUnauthorized(err error) bool { return hasStatus(err, http.StatusUnauthorized) }

// IsUninstalled reports whether the App got no token because its installation is gone or suspended.
func IsUninstalled(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.uninstalled
}

// Advised adds what a person with a token can do about a refusal. missing says what is not
// there where GitHub finds nothing, such as "there is no pull request 7 in o/r".
func Advised(err error, missing string) error {
	switch {
	case IsUnauthorized(err):
		return fmt.Errorf("%w: GITHUB_TOKEN is not valid or has expired: set another one, as GITHUB_TOKEN=$(gh auth token)", err)
	case IsNotFound(err):
		return fmt.Errorf("%w: %s, or the token may not read it: compare the name, and give the token access to the repository", err, missing)
	case IsForbidden(err):
		return fmt.Errorf("%w: give the token access to the repository", err)
	}
	if _, away := IsAway(err); away {
		return fmt.Errorf("%w: check the network, a proxy, and GITHUB_API_URL, or try again later", err)
	}
	return err
}

// IsValidation reports whether GitHub found the request itself wrong.
func IsValidation(err error) bool {
	return hasStatus(err, http.StatusUnprocessableEntity, http.StatusBadRequest)
}

func hasStatus(err error, status ...int) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, s := range status {
		if e.Status == s {
			return true
		}
	}
	return false
}

// fail is err with the operation and its key, without the token.
func (c *Client) fail(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	err = convert(err)
	var e *Error
	if errors.As(err, &e) {
		e.Message = c.redact.String(e.Message)
		for i := range e.Details {
			e.Details[i] = c.redact.String(e.Details[i])
		}
	}
	if text := err.Error(); c.redact.String(text) != text {
		err = errors.New(c.redact.String(text)) // a token where none is expected: the text alone is kept
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// convert turns what go-github and ghinstallation return into errors of this
// package: shorter, and without the URL, which the operation names better.
func convert(err error) error {
	var (
		refused *gh.ErrorResponse
		limit   *LimitError
		auth    *ghinstallation.HTTPError
		urlErr  *url.Error
	)
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &limit):
		return limit
	case errors.As(err, &auth):
		return noToken(auth)
	case errors.As(err, &refused):
		return refusal(refused)
	case errors.As(err, &urlErr):
		return &errNoAnswer{urlErr.Err}
	}
	return err
}

func refusal(r *gh.ErrorResponse) error {
	e := &Error{Message: cut(r.Message, 500)}
	if r.Response != nil {
		e.Status = r.Response.StatusCode
	}
	if e.Message == "" {
		e.Message = http.StatusText(e.Status)
	}
	for _, d := range r.Errors {
		text := d.Message
		if text == "" {
			text = strings.Join(strings.Fields(d.Resource+" "+d.Field+" "+d.Code), " ")
		}
		if text != "" && len(e.Details) < 10 {
			e.Details = append(e.Details, cut(text, 300))
		}
	}
	return e
}

// noToken is why an installation got no token. That it is not found is no news
// about what was asked for with the token.
func noToken(e *ghinstallation.HTTPError) error {
	what := fmt.Sprintf("no token for installation %d", e.InstallationID)
	switch {
	case e.Response == nil:
		cause := convert(e.RootCause)
		if until, _ := IsAway(cause); until.IsZero() && !errors.Is(cause, context.Canceled) {
			cause = &errNoAnswer{cause}
		}
		return fmt.Errorf("%s: %w", what, cause)
	case e.Response.StatusCode < 500:
		gone := e.Response.StatusCode == http.StatusNotFound || e.Response.StatusCode == http.StatusForbidden
		return &Error{Status: http.StatusUnauthorized, Message: what + ": " + e.Response.Status, uninstalled: gone}
	}
	return &Error{Status: e.Response.StatusCode, Message: what + ": " + e.Response.Status}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
