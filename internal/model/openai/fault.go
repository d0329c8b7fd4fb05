package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"

	"github.com/ycbot/ycbot/internal/model"
)

// A fault is why an attempt gave no answer.
type fault struct {
	text   string
	kind   error // one of model's errors, nil where asking again may mend it
	status int
	again  bool
	after  time.Duration // what the provider asks to wait; 0: it did not say
}

func (f *fault) Error() string {
	if f.kind != nil {
		return f.kind.Error() + ": " + f.text
	}
	return f.text
}

func (f *fault) Unwrap() error { return f.kind }

// A streamError is an error that the provider sent inside a stream.
type streamError struct {
	code, text string
}

func (e *streamError) Error() string { return e.text }

func streamed(raw json.RawMessage) error {
	var v struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return &streamError{text: "the provider broke the stream off: " + string(raw)}
	}
	code := fmt.Sprint(v.Code)
	if v.Code == nil || code == "" {
		code = v.Type
	}
	return &streamError{code: code, text: fmt.Sprintf("the provider broke the stream off: %s %s", code, v.Message)}
}

// fault tells what is to be done about err.
func (m *Model) fault(err error) *fault {
	var api *sdk.Error
	var inside *streamError
	var transport *url.Error
	f := &fault{again: true}
	switch {
	case errors.As(err, &api):
		f.status = api.StatusCode
		f.text = strings.TrimSpace(fmt.Sprintf("%d %s: %s", api.StatusCode, http.StatusText(api.StatusCode), first(api.Message, api.RawJSON())))
		f.sort(api.Code, api.Message)
		if api.Response != nil {
			f.after = after(api.Response.Header, m.o.Now())
		}
	case errors.As(err, &inside):
		f.text = inside.text
		f.overflow(inside.code, inside.text)
	case errors.As(err, &transport):
		f.text = transport.Err.Error() // without the URL, which an operator may have put a password into
	default:
		f.text = err.Error()
	}
	f.text = m.scrub(f.text)
	return f
}

// sort decides by the status; f.again is true before.
func (f *fault) sort(code, message string) {
	switch s := f.status; {
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		f.kind, f.again = model.ErrAuth, false
	case code == "insufficient_quota": // sent as 429, but no waiting mends it
		f.kind, f.again = model.ErrRequest, false
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooManyRequests, s >= 500:
	case s == http.StatusRequestEntityTooLarge:
		f.kind, f.again = model.ErrOverflow, false
	default:
		f.kind, f.again = model.ErrRequest, false
		f.overflow(code, message)
	}
}

// overflow recognises a conversation that is too long, which providers say in
// different words and with the same status as any bad request.
func (f *fault) overflow(code, message string) {
	text := strings.ToLower(code + " " + message)
	for _, sign := range []string{
		"context_length_exceeded", "maximum context length", "context window", "prompt is too long", "context size",
		"input is too long", "too many tokens", "exceeds the model's maximum", "exceed_context_size",
	} {
		if strings.Contains(text, sign) {
			f.kind, f.again = model.ErrOverflow, false
			return
		}
	}
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
func (m *Model) scrub(text string) string {
	if m.o.Key != "" {
		text = strings.ReplaceAll(text, m.o.Key, "[key]")
	}
	if r := []rune(text); len(r) > textMost {
		text = string(r[:textMost]) + "…"
	}
	return text
}

func first(of ...string) string {
	for _, s := range of {
		if s != "" {
			return s
		}
	}
	return ""
}
