// Package redirect follows redirects of HTTP requests on one host alone. net/http takes
// only some headers out of a request that is led to another host: a key in a header of a
// provider's own, and a body, arrive there.
package redirect

import (
	"fmt"
	"net/http"
	"net/url"
)

// most is how many redirects one request follows.
const most = 5

// An Error is a redirect that was not followed.
type Error struct {
	From, To string // scheme and host of each
	Status   int    // of the answer that led on
}

func (e *Error) Error() string {
	if e.From == e.To {
		return fmt.Sprintf("%s redirects more than %d times", e.From, most)
	}
	return fmt.Sprintf("%s redirects to another host, %s, which is not followed: what is sent is for the first alone; name the other where that is meant", e.From, e.To)
}

// Same is the CheckRedirect of a client whose requests hold what is for one host alone:
// it stops where scheme, host or port become others. The error is an [Error].
func Same(req *http.Request, via []*http.Request) error {
	e := &Error{From: origin(via[0].URL), To: origin(req.URL)}
	if req.Response != nil {
		e.Status = req.Response.StatusCode
	}
	if e.From != e.To || len(via) >= most {
		return e
	}
	return nil
}

// Client is a copy of c that follows redirects on one host alone.
func Client(c *http.Client) *http.Client {
	own := *c
	own.CheckRedirect = Same
	return &own
}

// origin is what an address has before its path, without a password.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
