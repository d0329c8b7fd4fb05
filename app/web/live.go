package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/transcript"
)

const (
	heartbeat    = 15 * time.Second // shorter than proxies wait
	lookAgain    = 5 * time.Second  // also without news
	gather       = 250 * time.Millisecond
	writeTime    = 30 * time.Second
	strangerTime = 5 * time.Minute // of a stream without a login; the browser comes again
)

// A stream is someone who watches a run.
type stream struct {
	*sender
	site  *Site
	page  *runPage
	from  int64             // the events before it are known to the client
	sent  map[string][]byte // panels as the client has them
	proof int               // executions that the client has
	raw   bytes.Buffer
}

// panels are the parts of the page that change while a run goes on.
func panels() []string { return []string{"head", "stages", "agents", "report", "files"} }

// events says what happens in a run while it does, as server-sent events: each event of
// the run as events.jsonl has it, named by its type, with the offset of its end as id; and
// for pages "put" with an element that takes the place of the one with its id, "append"
// with one that is new, and "end". Who comes again with Last-Event-ID gets the events
// from there on.
func (s *Site) events(w http.ResponseWriter, r *http.Request, v *viewer, run store.Run) error {
	send, release, err := s.stream(w, r, v)
	if err != nil {
		return err
	}
	defer release()
	from, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)
	again := err == nil && from > 0
	if !again {
		from = 0
	}
	more, end := s.DB.Watch(run.ID)
	defer end()
	st := &stream{sender: send, site: s, from: from, sent: map[string][]byte{}}
	st.page = &runPage{Base: s.base, Server: s.Server, Run: run, db: s.DB, lines: st.line, lost: s.loses(r.Context(), run)}
	if v.writes(run) && run.Number != 0 {
		st.page.CSRF, st.page.Press = s.cookies.token(v.session), nonce()
	}
	if err := st.page.advance(r.Context()); err != nil {
		return err
	}
	if again && !st.page.Running() && st.raw.Len() == 0 {
		w.WriteHeader(http.StatusNoContent) // browsers do not come again then
		return nil
	}
	if err := st.begin(); err != nil {
		return err
	}
	if err := st.run(r.Context(), v, more); err != nil && r.Context().Err() == nil {
		s.Log.WarnContext(r.Context(), "run cannot be watched any more", "run", run.ID, "error", err)
	}
	return nil
}

// line notes an event that the client does not know.
func (st *stream) line(l store.Line) {
	if l.Start < st.from {
		return
	}
	var e transcript.Event
	_ = json.Unmarshal(l.Body, &e) // it was read before
	fmt.Fprintf(&st.raw, "id: %d\nevent: %s\ndata: %s\n\n", l.End, oneLine(string(e.Type)), l.Body)
}

// oneLine keeps a name from being more than that.
func oneLine(s string) string {
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, []byte(s)))
}

// run sends what there is, and waits for more.
func (st *stream) run(ctx context.Context, v *viewer, more <-chan struct{}) error {
	look, beat := time.NewTicker(lookAgain), time.NewTicker(st.site.beat)
	defer look.Stop()
	defer beat.Stop()
	for {
		if err := st.update(); err != nil {
			return err
		}
		if !st.page.Running() {
			return st.send([]byte("event: end\ndata: {}\n\n"))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-st.site.End:
			return nil
		case <-st.over:
			return nil
		case <-beat.C:
			if err := st.send([]byte(": still here\n\n")); err != nil {
				return err
			}
			if err := st.site.see(ctx, v); err != nil || !v.reads(st.page.Run) {
				return err // GitHub may have changed its mind
			}
			continue
		case <-look.C:
		case <-more:
			wait(ctx, gather) // it seldom comes alone
		}
		if err := st.page.advance(ctx); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// update sends the events that are new and the panels that changed.
func (st *stream) update() error {
	var out bytes.Buffer
	out.Write(st.raw.Bytes())
	st.raw.Reset()
	st.page.Now = st.site.Now()
	for _, name := range panels() {
		if err := st.put(&out, name); err != nil {
			return err
		}
	}
	for ; st.proof < len(st.page.Evidence); st.proof++ {
		html, err := st.html("proof", st.page.Evidence[st.proof])
		if err != nil {
			return err
		}
		write(&out, "append", map[string]string{"to": "proofs", "html": string(html)})
	}
	if out.Len() == 0 {
		return nil
	}
	return st.send(out.Bytes())
}

func (st *stream) put(out *bytes.Buffer, panel string) error {
	html, err := st.html("panel-"+panel, st.page)
	if err != nil || bytes.Equal(html, st.sent[panel]) {
		return err
	}
	st.sent[panel] = html
	write(out, "put", map[string]string{"id": panel, "html": string(html)})
	return nil
}

func (st *stream) html(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := st.site.pages.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("part %s: %w", name, err)
	}
	return b.Bytes(), nil
}

func write(out *bytes.Buffer, event string, data map[string]string) {
	body, _ := json.Marshal(data) // of strings: there is no error
	fmt.Fprintf(out, "event: %s\ndata: %s\n\n", event, body)
}

// A sender sends events to one client.
type sender struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	now func() time.Time

	over <-chan time.Time // the stream is to end
}

// stream takes one of the places of those who watch.
func (s *Site) stream(w http.ResponseWriter, r *http.Request, v *viewer) (*sender, func(), error) {
	stranger := v.session == nil
	release, ok := s.places.take(stranger, addressOf(r))
	if !ok {
		w.Header().Set("Retry-After", "30")
		return nil, nil, &httpError{http.StatusServiceUnavailable, "Too many people watch. Load the page again later."}
	}
	send := &sender{w: w, ctl: http.NewResponseController(w), now: s.Now}
	if stranger {
		send.over = time.After(s.strangerTime)
	}
	return send, release, nil
}

// begin answers that events follow.
func (o *sender) begin() error {
	if err := o.ctl.SetReadDeadline(time.Time{}); err != nil { // or the request would end with its time
		return err
	}
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
	return o.send([]byte("retry: 3000\n\n"))
}

func (o *sender) send(b []byte) error {
	if err := o.ctl.SetWriteDeadline(o.now().Add(writeTime)); err != nil {
		return err
	}
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.ctl.Flush()
}
