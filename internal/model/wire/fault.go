package wire

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/redirect"
)

// CodeWebPage is the Code of a Fault where the endpoint is no provider's API.
const CodeWebPage = "web_page"

// A Refusal is an answer of the provider that is no stream.
type Refusal struct {
	Status  int
	Code    string // the provider's own word, such as context_length_exceeded
	Message string
	Header  http.Header
	For     error // which of model's errors it is; nil: decided by status and words
}

func (r *Refusal) Error() string { return r.Message }

// A Broken is an error that the provider sent inside a stream.
type Broken struct {
	Code    string
	Message string
}

func (b *Broken) Error() string {
	return strings.TrimSpace("the provider broke the stream off: " + b.Code + " " + b.Message)
}

// A Fault is why an attempt gave no answer.
type Fault struct {
	Status int    // HTTP; 0: no response, or the fault came inside a stream
	Code   string // the provider's own word, where it has one
	Text   string
	Again  bool // asking again may fix it
	Kind   error
	after  time.Duration // what the provider asks to wait; 0: it did not say
	cause  error
}

func (f *Fault) Error() string {
	if f.Kind != nil {
		return f.Kind.Error() + ": " + f.Text
	}
	return f.Text
}

// Unwrap gives the one of model's errors that the fault is, if it is one.
func (f *Fault) Unwrap() []error {
	if f.Kind != nil {
		return []error{f.Kind}
	}
	if errors.Is(f.cause, errIdle) {
		return []error{errIdle}
	}
	return nil
}

// fault says what is to be done about err.
func (c *Caller) fault(err error) *Fault {
	var refusal *Refusal
	var inside *Broken
	var led *redirect.Error
	var transport *url.Error
	f := &Fault{Again: true, cause: err}
	switch {
	case errors.As(err, &refusal):
		f.Status, f.Code = refusal.Status, refusal.Code
		f.Text = strings.TrimSpace(fmt.Sprintf("%d %s: %s", f.Status, http.StatusText(f.Status), refusal.Message))
		f.after = after(refusal.Header, c.o.Now())
		if refusal.For != nil {
			f.refuse(refusal.For)
		} else {
			f.sort(refusal.Message)
		}
	case errors.As(err, &inside):
		f.Code, f.Text = inside.Code, inside.Error()
		f.inside(inside)
	case errors.As(err, &led):
		f.Status, f.Text = led.Status, led.Error()
		f.refuse(model.ErrModel)
	case errors.As(err, &transport):
		f.Text = transport.Err.Error() // without the URL, which an operator may have put a password into
	default:
		f.Text = err.Error()
	}
	f.Text = c.scrub(f.Text)
	return f
}

func (f *Fault) refuse(kind error) { f.Kind, f.Again = kind, false }

// sort decides by the status; f.Again is true before.
func (f *Fault) sort(message string) {
	switch s := f.Status; {
	case s == http.StatusPaymentRequired, spent(f.Code, message):
		f.refuse(model.ErrQuota)
	case noModel(f.Code): // also as 403: the key is good for others
		f.refuse(model.ErrModel)
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		f.refuse(model.ErrAuth)
	case s == http.StatusTooManyRequests && strings.Contains(strings.ToLower(message), "request too large"):
		f.refuse(model.ErrOverflow) // one request is more than the allowance of a minute
	case s == http.StatusInternalServerError && tooLong(f.Code, message): // of servers of one's own
		f.refuse(model.ErrOverflow)
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooManyRequests, s >= 500:
	case s == http.StatusRequestEntityTooLarge, tooLong(f.Code, message):
		f.refuse(model.ErrOverflow)
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		f.refuse(model.ErrModel)
	default:
		f.refuse(model.ErrRequest)
	}
}

// inside decides about an error that came in a stream, which has no status.
func (f *Fault) inside(b *Broken) {
	switch {
	case tooLong(b.Code, b.Message):
		f.refuse(model.ErrOverflow)
	case b.Code == "authentication_error", b.Code == "permission_error", b.Code == "invalid_api_key":
		f.refuse(model.ErrAuth)
	case spent(b.Code, b.Message):
		f.refuse(model.ErrQuota)
	case noModel(b.Code):
		f.refuse(model.ErrModel)
	case b.Code == "invalid_request_error", b.Code == "invalid_prompt":
		f.refuse(model.ErrRequest)
	}
}

// spent recognises an account with nothing left, which providers send as 400, 403 or
// even 429. That a limit of a minute can be raised by paying more is not that.
func spent(code, message string) bool {
	switch code {
	case "insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits":
		return true
	}
	text := strings.ToLower(message)
	return strings.Contains(text, "credit balance") || strings.Contains(text, "insufficient credits") || strings.Contains(text, "insufficient balance")
}

// noModel recognises the provider's word for a name that it has no
// model of, or none for this key.
func noModel(code string) bool {
	return code == "model_not_found" || code == "not_found_error" || code == "unknown_model" || code == "no_access"
}

// tooLong recognises a conversation that is too long, which providers say in
// different words and with the same status as any bad request.
func tooLong(code, message string) bool {
	text := strings.ToLower(code + " " + message)
	for _, sign := range []string{
		"context_length_exceeded", "maximum context length", "context window", "prompt is too long", "context size",
		"input is too long", "too many tokens", "exceeds the model's maximum", "exceed_context_size",
		"exceed context limit", "request_too_large", "tokens_limit_reached", "maximum prompt length",
	} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// after reads Retry-After: seconds or an HTTP date.
func after(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}

// textMost bounds what is kept of a provider's words.
const textMost = 500

// scrub takes the key out of text, which providers like to repeat, and cuts it.
func (c *Caller) scrub(text string) string {
	if c.o.Key != "" {
		text = strings.ReplaceAll(text, c.o.Key, "[key]")
	}
	if r := []rune(text); len(r) > textMost {
		text = string(r[:textMost]) + "…"
	}
	return text
}
