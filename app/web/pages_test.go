package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

// The page of a finished run has the verdict, what fails with expectation and output, all
// commands with their outputs, the agents, and the files.
func TestRunPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("r", 2)
	status, text := w.browser().get("/runs/r")
	if status != http.StatusOK {
		t.Fatalf("%d\n%s", status, text)
	}
	for _, want := range []string{
		`<span class="big">FAIL</span>`, "Sell seats in one step", "acme/repo2", "/pull/41", "67541335"[:7], "a negative number of tickets is refused",
		"introduced", "go run ./cmd/box sell -5", "sold -5, 105 left", `id="E19"`, "exit 1", "verification", "turn 4 of 60", "gate", "checkout",
		"/runs/r/agents/92078ac011128b11", "/runs/r/files/report.json", "/runs/r/files/spill/E14.stdout", "3 passed on head", "440 tokens", "ycbot run --base",
		`<span class="soft">the change&#39;s tests pass without the change as well</span>`, // why a check was skipped
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "data-events") {
		t.Error("the page of a finished run listens for events")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// What a check leaves to a person is a note on the page, too, and so is what a linter says; a
// PASS shows its title.
func TestRunPageNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := recorded(t)
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := report.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	rep.Verdict, rep.Reasons, rep.Title = report.Pass, nil, "PASS · 1 dropped · 1 of 2 old expectations hold"
	rep.Expectations = &report.Expectations{Policy: "report", Held: 1, Dropped: []report.Expectation{{Test: "m TestA"}}}
	rep.Checks = []report.Check{
		{ID: "C1", Title: "base's tests over the change", Kind: report.KindKept, Result: report.ResultPass, Support: report.Supported, Reproduction: report.NotRun},
		{ID: "C2", Title: "lint: go vet ./...", Kind: report.KindLint, Result: report.ResultFail, Support: report.Supported, Reproduction: report.Introduced, Actual: "1 new complaints"},
		{ID: "C3", Title: "build: go build ./...", Kind: report.KindBuild, Result: report.ResultPass, Support: report.Supported, Reproduction: report.NotRun},
	}
	if text, err = rep.JSON(); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "report.json", string(text))
	w.importRun("r", dir)
	w.save(store.Run{ID: "r", Repo: "acme/repo2", RepoID: 2, State: store.Finished, Verdict: "PASS"})
	_, page := w.browser().get("/runs/r")
	for _, want := range []string{
		`<p class="reasons">PASS · 1 dropped · 1 of 2 old expectations hold</p>`,
		`<span class="tag">NOTE</span></td><td>base&#39;s tests over the change <span class="soft">1 of 2 old expectations hold</span>`,
		`<span class="tag">NOTE</span></td><td>lint: go vet ./... <span class="soft">1 new complaints</span>`,
		`<span class="tag pass">PASS</span></td><td>build: go build ./...`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

// Every page says what browsers may do with it: no script but ours, no frame, no guesses.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("r", 2)
	for path, kind := range map[string]string{
		"/runs": "text/html; charset=utf-8", "/runs/r": "text/html; charset=utf-8", "/none": "text/html; charset=utf-8",
		"/runs/r/files/report.md": "text/plain; charset=utf-8", "/runs/r/files/evidence.jsonl": "text/plain; charset=utf-8",
		"/runs/r/files/spill/E13.stdout": "text/plain; charset=utf-8", "/assets/ycbot.js": "text/javascript; charset=utf-8",
	} {
		resp, err := w.browser().Get(w.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		h := resp.Header
		csp := h.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Type") != kind {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// Files leave as they are stored, and never as something that a browser executes.
func TestFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := recorded(t)
	put(t, dir, "page.html", "<script>alert(1)</script>")
	put(t, dir, "draw.svg", "<svg onload='alert(1)'/>")
	put(t, dir, "name", "<script>alert(1)</script>")
	w.importRun("r", dir)
	w.save(store.Run{ID: "r", Repo: "acme/repo2", RepoID: 2, State: store.Finished})
	for _, name := range []string{"page.html", "draw.svg", "name"} {
		resp, err := w.browser().Get(w.URL + "/runs/r/files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Content-Type") + " " + resp.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "application/octet-stream attachment") {
			t.Errorf("%s is sent as %s", name, got)
		}
	}
	b := w.browser()
	if _, text := b.get("/runs/r/files/events.jsonl"); strings.Count(text, "\n") != 69 {
		t.Errorf("events.jsonl has %d lines, want 69", strings.Count(text, "\n"))
	}
	for _, name := range []string{"absent", "../r/report.json", "%2e%2e/report.json", "model.jsonl"} {
		if status, _ := b.get("/runs/r/files/" + name); status != http.StatusNotFound {
			t.Errorf("%s is answered with %d", name, status)
		}
	}
	if _, text := b.get("/runs/r/files/"); !strings.Contains(text, "spill/E13.stdout") {
		t.Error("the list of files lacks some")
	}
}

// The list shows what is asked for, page by page.
func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 2*pageRuns + 3 {
		r := store.Run{ID: fmt.Sprintf("run%03d", i), Repo: "acme/repo2", RepoID: 2, Number: i, State: store.Finished, Verdict: "PASS", Created: w.clock().Add(-time.Duration(i) * time.Minute)}
		if i == 100 {
			r.Verdict = "FAIL"
		}
		if i == 101 {
			r.State, r.Verdict = store.Running, ""
		}
		w.save(r)
	}
	b := w.browser()
	ids := func(text string) (out []string) {
		for _, part := range strings.Split(text, `href="/runs/run`)[1:] {
			out = append(out, part[:3])
		}
		return out
	}
	seen, path := 0, "/runs"
	for path != "" {
		_, text := b.get(path)
		for _, id := range ids(text) {
			if n, err := strconv.Atoi(id); err != nil || n != seen {
				t.Fatalf("run %s where %d should be", id, seen)
			}
			seen++
		}
		_, older, ok := strings.Cut(text, `href="/runs?before=`)
		path = ""
		if ok && strings.Contains(text, ">Older<") {
			older, _, _ = strings.Cut(older, `"`)
			path = "/runs?before=" + older
		}
	}
	if seen != 2*pageRuns+3 {
		t.Errorf("%d runs are listed", seen)
	}
	for query, want := range map[string][]string{
		"verdict=FAIL": {"100"}, "state=running": {"101"}, "number=7": {"007"}, "repo=acme/none": nil, "repo=acme/repo2&verdict=FAIL": {"100"},
	} {
		_, text := b.get("/runs?" + query)
		if diff := cmp.Diff(want, ids(text)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

// A message is one of a stream.
type message struct{ id, event, data string }

// listen reads the events of a run until it says so.
func (b *browser) listen(path, last string, until func(message) bool) []message {
	b.w.t.Helper()
	r, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodGet, b.w.URL+path, nil)
	if err != nil {
		b.w.t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := b.Do(r)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return []message{{event: resp.Status}}
	}
	var out []message
	var m message
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ": ")
		switch key {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			m.data = value
		case "":
			if m.event != "" {
				out = append(out, m)
				if until(m) {
					return out
				}
			}
			m = message{}
		}
	}
	return out
}

func names(messages []message) map[string]int {
	out := map[string]int{}
	for _, m := range messages {
		out[m.event]++
	}
	return out
}

// Who watches gets each event of the run once, in order, also across a broken connection,
// and the parts of the page that changed; the last is that the run has ended.
func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("r", 2)
	b := w.browser()
	ended := func(m message) bool { return m.event == "end" }
	all := b.listen("/runs/r/events", "", ended)
	got := names(all)
	for event, want := range map[string]int{"stage_start": 4, "tool_start": 6, "run_done": 1, "put": 5, "append": 19, "end": 1} {
		if got[event] != want {
			t.Errorf("%d × %s, want %d", got[event], event, want)
		}
	}
	var ids []string
	for _, m := range all {
		if m.id != "" {
			ids = append(ids, m.id)
		}
	}
	if len(ids) != 69 {
		t.Fatalf("%d events of the run, want 69", len(ids))
	}
	var rest []string
	for _, m := range b.listen("/runs/r/events", ids[40], ended) {
		if m.id != "" {
			rest = append(rest, m.id)
		}
	}
	if diff := cmp.Diff(ids[41:], rest); diff != "" {
		t.Error(diff)
	}
	if done := b.listen("/runs/r/events", ids[68], ended); done[0].event != "204 No Content" {
		t.Errorf("who knows all is answered with %v", done[0])
	}
}

// What a run does is seen while it does it, without asking again; events of agents come
// in their envelope.
func TestLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := store.Run{ID: "r", Repo: "acme/repo2", RepoID: 2, Number: 1, Installation: 7, State: store.Running, Started: w.clock()}
	w.save(run)
	dir := t.TempDir()
	m, err := w.db.Mirror(t.Context(), "r", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	log := ""
	say := func(line string) {
		log += line + "\n"
		if err := os.WriteFile(filepath.Join(dir, eventsFile), []byte(log), 0o600); err != nil {
			t.Error(err)
		}
		if err := m.Sync(t.Context()); err != nil {
			t.Error(err)
		}
	}
	const envelope = `{"agentType":"verification","event":{"type":"tool_start","time":"2026-01-01T00:00:02Z","agent":"verification","id":"a","n":1,"call":{"id":"c","index":0,"name":"grep","args":"{}"}},"sessionId":"a","type":"subagent_event"}`
	say(`{"type":"stage_start","time":"2026-01-01T00:00:00Z","step":{"stage":"gate"}}`)
	end := func() {
		run.State, run.Verdict, run.Ended = store.Finished, "PASS", w.clock()
		if err := w.db.SaveRun(context.Background(), run); err != nil {
			t.Error(err)
		}
	}
	got := w.browser().listen("/runs/r/events", "", func(m message) bool {
		switch m.event {
		case "stage_start":
			go say(`{"type":"stage_done","time":"2026-01-01T00:00:01Z","duration_ms":1000,"step":{"stage":"gate"}}`)
		case "stage_done":
			go say(envelope)
		case "tool_start":
			go end()
		}
		return m.event == "end"
	})
	last := got[len(got)-2]
	if names(got)["end"] != 1 || last.event != "put" || !strings.Contains(last.data, "PASS") && !strings.Contains(got[len(got)-3].data, "PASS") {
		t.Errorf("got %v", got)
	}
	if !slices.ContainsFunc(got, func(m message) bool { return m.event == "tool_start" && m.data == envelope }) {
		t.Errorf("the event of an agent came without its envelope: %v", got)
	}
}

// Markdown is rendered without the HTML in it, without addresses that would be executed,
// and with hidden characters visible.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	got, err := markdown("# Head\n\n<script>alert(1)</script>\n\n[x](javascript:alert(2)) <img src=x onerror=alert(3)> **bold** a\u202eb\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "javascript:", "<img", "\u202e"} {
		if strings.Contains(string(got), bad) {
			t.Errorf("%q is left in\n%s", bad, got)
		}
	}
	for _, want := range []string{"<h1>Head</h1>", "<strong>bold</strong>", "U+202E"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// What an agent costs is known when it ends: until then a page does not call it nothing.
func TestPaid(t *testing.T) {
	t.Parallel()
	dime := 0.1
	works, ended, unpriced := &agentCard{Input: 100}, &agentCard{Input: 100, Done: true, CostUSD: &dime}, &agentCard{Input: 100, Done: true}
	for _, test := range []struct {
		name   string
		state  store.RunState
		agents []*agentCard
		want   string
	}{
		{"no model was asked", store.Running, nil, "$0.00"},
		{"before its first answer", store.Running, []*agentCard{{}}, "$0.00"},
		{"the first works", store.Running, []*agentCard{works}, "not known yet"},
		{"the second works", store.Running, []*agentCard{ended, works}, "$0.10 so far"},
		{"without a price", store.Running, []*agentCard{unpriced, works}, "cost unknown"},
		{"none works", store.Running, []*agentCard{ended, ended}, "$0.20"},
		{"it broke off", store.Failed, []*agentCard{ended, works}, "$0.10"},
	} {
		p := &runPage{Run: store.Run{State: test.state}, Progress: progress{Agents: test.agents}}
		if got := p.Paid(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// A largest keeps how much was written at once.
type largest struct {
	*httptest.ResponseRecorder
	most int
}

func (l *largest) Write(b []byte) (int, error) {
	l.most = max(l.most, len(b))
	return l.ResponseRecorder.Write(b)
}

// A large file is sent in parts, and to a slow client for as long as it takes.
func TestLargeFile(t *testing.T) {
	variants.Only(t) // a file of many megabytes; TestLongOutputs has a long one
	t.Parallel()
	w := newWorld(t)
	dir := recorded(t)
	random := make([]byte, 32<<20)
	_, _ = rand.Read(random)
	put(t, dir, "outputs/large.bin", string(random))
	put(t, dir, "outputs/large.txt", hex.EncodeToString(random))
	w.importRun("r", dir)
	w.save(store.Run{ID: "r", Repo: "acme/repo2", RepoID: 2, Number: 1, State: store.Finished})
	one := &largest{ResponseRecorder: httptest.NewRecorder()}
	w.site.Handler().ServeHTTP(one, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/runs/r/files/outputs/large.bin", nil))
	if one.Code != http.StatusOK || !bytes.Equal(one.Body.Bytes(), random) || one.Header().Get("Content-Length") != strconv.Itoa(len(random)) {
		t.Errorf("status %d, %d bytes", one.Code, one.Body.Len())
	}
	if one.most > 1<<20 {
		t.Errorf("%d bytes are written at once", one.most)
	}
	server := httptest.NewUnstartedServer(w.site.Handler())
	server.Config.WriteTimeout = time.Second
	server.Start()
	defer server.Close()
	for name, want := range map[string]int{"outputs/large.bin": len(random), "outputs/large.txt": 2 * len(random)} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/runs/r/files/"+name, nil)
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || len(got) != want {
			t.Errorf("%s: a slow client gets %d bytes of %d: %v", name, len(got), want, err)
		}
	}
}
