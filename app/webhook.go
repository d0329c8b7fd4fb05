package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/telemetry"
)

// Deliveries whose signature is right are worked on at most so many at once: small ones,
// and those larger than smallBody, which take up to a hundred times as much memory.
const (
	smallBody   = 1 << 20
	smallAtOnce = 64
	largeAtOnce = 4
	slotTime    = 5 * time.Second // for a place
)

// bodyTime is how long a body may take: GitHub itself gives up after ten seconds.
const bodyTime = 10 * time.Second

// storeTime is how long storing a delivery may take: GitHub waits for ten seconds.
const storeTime = 9 * time.Second

// A webhook answers deliveries.
type webhook struct {
	*Server
	small, large chan struct{} // places for deliveries that GitHub signed
	bodyTime     time.Duration // for a body
	spool        *spool
}

// A refusal is an answer other than 202.
type refusal struct {
	status int
	text   string
	err    error // for the log; nil: nothing to add
}

// ServeHTTP answers one delivery.
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, refused := h.receive(w, r)
	if refused == nil {
		answer(w, http.StatusAccepted, text)
		return
	}
	result := telemetry.DeliveryRefused
	if refused.status == http.StatusServiceUnavailable {
		result = telemetry.DeliveryFailed
	}
	h.Metrics.Delivery(r.Header.Get("X-GitHub-Event"), result)
	h.Log.WarnContext(r.Context(), "webhook refused", "status", refused.status, "why", refused.text, "error", refused.err,
		"delivery", name(r.Header.Get("X-GitHub-Delivery")), "from", r.RemoteAddr)
	if refused.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "10")
	}
	answer(w, refused.status, refused.text)
}

// receive checks and stores a delivery.
func (h *webhook) receive(w http.ResponseWriter, r *http.Request) (string, *refusal) {
	signature, ok := readSignature(r.Header)
	switch {
	case !ok:
		return "", &refusal{http.StatusUnauthorized, "header X-Hub-Signature-256 is missing or malformed", nil}
	case r.ContentLength > event.MaxSize:
		return "", tooLarge()
	}
	received, refused := h.read(w, r, signature)
	if refused != nil {
		return "", refused
	}
	defer received.Close()
	release, refused := h.place(r, received.size())
	if refused != nil {
		return "", refused
	}
	defer release()
	body, err := received.bytes()
	if err != nil {
		return "", &refusal{http.StatusServiceUnavailable, "the delivery could not be read again", err}
	}
	received.Close()
	kind, delivery := r.Header.Get("X-GitHub-Event"), r.Header.Get("X-GitHub-Delivery")
	switch media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case err != nil || media != "application/json":
		return "", &refusal{http.StatusBadRequest, "the content type must be application/json: set it so in the App's webhook settings", err}
	case name(kind) == "" || name(delivery) == "":
		return "", &refusal{http.StatusBadRequest, "header X-GitHub-Event or X-GitHub-Delivery is missing or malformed", nil}
	}
	e, err := event.Parse(kind, delivery, body)
	if err != nil && !errors.Is(err, event.ErrIgnored) {
		return "", &refusal{http.StatusBadRequest, "the body is not what GitHub sends", err}
	}
	sum := sha256.Sum256(body)
	return h.store(r.Context(), store.Delivery{ID: delivery, Event: kind, BodySHA256: hex.EncodeToString(sum[:])}, e)
}

func tooLarge() *refusal {
	return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", event.MaxSize), nil}
}

// readSignature reads the SHA-256 signature; there is no other that counts.
func readSignature(h http.Header) ([]byte, bool) {
	digits, ok := strings.CutPrefix(h.Get("X-Hub-Signature-256"), "sha256=")
	signature, err := hex.DecodeString(digits)
	return signature, ok && err == nil && len(signature) == sha256.Size
}

// place waits until there is room to work on a delivery of size bytes.
func (h *webhook) place(r *http.Request, size int64) (release func(), refused *refusal) {
	places := h.large
	if size <= smallBody {
		places = h.small
	}
	ctx, cancel := context.WithTimeout(r.Context(), slotTime)
	defer cancel()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, &refusal{http.StatusServiceUnavailable, "too many deliveries at once", nil}
	}
}

// read receives the body and returns it if its signature is right.
func (h *webhook) read(w http.ResponseWriter, r *http.Request, signature []byte) (*spooled, *refusal) {
	// A recorder of a test has no deadlines; a connection has, by the machine's clock.
	deadline := time.Now().Add(h.bodyTime) //nolint:forbidigo // as said
	if err := http.NewResponseController(w).SetReadDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, &refusal{http.StatusBadRequest, "the connection is gone", err}
	}
	keys := [][]byte{h.Secret}
	if len(h.Previous) > 0 {
		keys = append(keys, h.Previous)
	}
	body, sums, err := h.spool.receive(http.MaxBytesReader(w, r.Body, event.MaxSize), keys)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge()
	case errors.Is(err, errSpoolFull):
		return nil, &refusal{http.StatusServiceUnavailable, "too many deliveries at once", err}
	case errors.Is(err, errSpoolFile):
		return nil, &refusal{http.StatusServiceUnavailable, "the delivery could not be stored", err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &refusal{http.StatusRequestTimeout, fmt.Sprintf("the body did not come within %v", h.bodyTime), err}
	case err != nil:
		return nil, &refusal{http.StatusBadRequest, "the body ended early", err}
	case !signedBy(sums, signature):
		body.Close()
		return nil, &refusal{http.StatusUnauthorized, "the signature is not that of the body", nil}
	}
	return body, nil
}

// signedBy reports whether a signature is one of sums. It takes as long for each.
func signedBy(sums [][]byte, signature []byte) (ok bool) {
	for _, sum := range sums {
		ok = hmac.Equal(sum, signature) || ok
	}
	return ok
}

// store keeps a delivery and the jobs that it calls for. A nil e is an event that ycbot
// does not look at.
func (h *webhook) store(ctx context.Context, d store.Delivery, e *event.Event) (string, *refusal) {
	text, jobs := "ycbot does not look at this event", []*job.Job{nil}
	if e != nil {
		text, jobs = h.admit(e)
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	for i, j := range jobs {
		of := d
		if i < len(jobs)-1 { // the delivery is stored with its last job: until then it can come again
			of = store.Delivery{}
		}
		if err := h.keep(ctx, d, of, e, j, text); err != nil {
			return "", &refusal{http.StatusServiceUnavailable, "the delivery could not be stored", err}
		}
	}
	return text, nil
}

// keep stores one job of the delivery d, or none, and with it the delivery with.
func (h *webhook) keep(ctx context.Context, d, with store.Delivery, e *event.Event, j *job.Job, text string) error {
	if j != nil {
		j.Delivery = d.ID
	}
	receipt, err := h.Queue.Accept(ctx, with, j)
	if err != nil {
		return err
	}
	if j != nil {
		j.ID = receipt.ID
	}
	attrs := []any{"delivery", d.ID, "event", d.Event, "job", receipt.ID, "fresh", receipt.Fresh, "status", text, "superseded", receipt.Superseded}
	if e != nil && e.Repo.Name != "" {
		attrs = append(attrs, "repo", e.Repo.FullName())
	}
	if j != nil && j.Number != 0 {
		attrs = append(attrs, "pr", j.Number)
	}
	h.Log.InfoContext(ctx, "delivery stored", attrs...)
	if receipt.Fresh && h.Fresh != nil {
		h.Fresh(*j)
	}
	if with.ID != "" {
		h.Metrics.Delivery(d.Event, became(j, receipt))
	}
	return nil
}

// became is what metrics call what became of a delivery that was stored.
func became(j *job.Job, receipt queue.Receipt) string {
	switch {
	case j == nil:
		return telemetry.DeliveryIgnored
	case !receipt.Fresh:
		return telemetry.DeliveryRepeated
	}
	return telemetry.DeliveryAccepted
}

// admit says what an event calls for, in words and as jobs, nil for nothing. An answer to
// people though nothing is run is a job too.
func (h *webhook) admit(e *event.Event) (text string, jobs []*job.Job) {
	if !h.Allow.allows(e) {
		return "this installation or repository is not allowed here", []*job.Job{nil}
	}
	for _, d := range job.AdmitEach(e, h.Rules) {
		if d.Run {
			text, jobs = "accepted", append(jobs, &d.Job)
			continue
		}
		text = "nothing to do: " + string(d.Skip.Code)
		j := (*job.Job)(nil)
		if d.Skip.Notify == job.NotifyComment && d.Skip.Number != 0 || d.Skip.Notify == job.NotifySummary && d.Job.Asked() {
			reply := replyJob(d.Job, *d.Skip)
			j = &reply
		}
		jobs = append(jobs, j)
	}
	return text, jobs
}

// name is s where it can name an event or a delivery, and else "".
func name(s string) string {
	if len(s) > 100 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		return ""
	}
	return s
}

// Allowed says whose events are listened to. The zero Allowed is everybody's.
type Allowed struct {
	Installations []int64
	Repositories  config.Repositories
}

func (a Allowed) allows(e *event.Event) bool {
	if e.Kind == event.Revoked || e.Kind == event.Granted { // of no repository
		return len(a.Installations) == 0 || slices.Contains(a.Installations, e.Installation)
	}
	return a.runs(e.Installation, e.Repo)
}

// runs reports whether anything is run for a repository.
func (a Allowed) runs(installation int64, repo event.Repo) bool {
	return (len(a.Installations) == 0 || slices.Contains(a.Installations, installation)) && a.Repositories.Allows(repo.FullName())
}
