package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// reported stores a run with a report.
func (w *world) reported(r store.Run, rep report.Report) {
	w.t.Helper()
	rep.Outcome, rep.Trigger, rep.Trust, rep.Verdict = cmp.Or(rep.Outcome, report.Completed), "pull_request", "trusted", report.Verdict(r.Verdict)
	if rep.Verdict != report.Pass {
		rep.Reasons = []string{"a reason"}
	}
	body, err := rep.JSON()
	if err != nil {
		w.t.Fatal(err)
	}
	dir := w.t.TempDir()
	put(w.t, dir, reportFile, string(body))
	w.importRun(r.ID, dir)
	r.State = store.Finished
	if r.Ended.IsZero() {
		r.Ended = w.clock()
	}
	w.save(r)
}

func failingCheck(title, test string) report.Check {
	return report.Check{ID: "C" + title[:1], Title: title, Test: test, Kind: report.KindTest, Result: report.ResultFail, Evidence: []string{"E1"}, Support: report.Supported, Reproduction: report.Introduced}
}

// The runs of a pull request are one story: what was, what is now, and what came and went.
func TestPullPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.clock().Add(-time.Hour)
	run := func(id, verdict string, minutes int) store.Run {
		return store.Run{ID: id, Repo: "acme/box", RepoID: 2, Number: 41, HeadSHA: "67541335b2da", Trigger: "pull_request", Actor: "maria", Verdict: verdict, Title: "Sell seats", Created: at.Add(time.Duration(minutes) * time.Minute)}
	}
	w.reported(run("one", "FAIL", 1), report.Report{
		Tests: &report.Tests{Regressed: []string{"box TestSell", "box TestRefund"}}, Checks: []report.Check{failingCheck("negative tickets", "")},
		Findings: []report.Finding{{Severity: report.SeverityWarning, Title: "unused index", Path: "a.go", Line: 3}},
	})
	w.reported(run("two", "FAIL", 2), report.Report{
		Tests: &report.Tests{Regressed: []string{"box TestRefund"}, NewFailing: []string{"box TestHall"}}, Findings: []report.Finding{{Severity: report.SeverityWarning, Title: "unused index", Path: "a.go", Line: 9}},
	})
	w.save(store.Run{ID: "cut", Repo: "acme/box", RepoID: 2, Number: 41, State: store.Superseded, Reason: "a newer commit came", Created: at.Add(3 * time.Minute), Ended: at.Add(4 * time.Minute)})
	w.reported(run("three", "PASS", 5), report.Report{Tests: &report.Tests{HeadPassed: 3}})
	w.save(store.Run{ID: "other", Repo: "acme/box", RepoID: 2, Number: 42, State: store.Running, Created: at.Add(6 * time.Minute)})
	status, text := w.browser().get("/repos/2/pulls/41")
	if status != http.StatusOK {
		t.Fatalf("%d\n%s", status, text)
	}
	text = strings.Join(strings.Fields(text), " ")
	at2, rest := 0, text
	for _, want := range []string{ // in this order
		"the newest run", `FAIL</span> <span class="then">`, `PASS</span> <a href="/runs/three">`, "Gone since the run before", "test does not fail any more</span> <a href=\"/repos/2/tests?name=box%20TestRefund\">box TestRefund", "box TestHall", "unused index (a.go)",
		"SUPERSEDED", "a newer commit came", `<a href="/runs/two">`, "New since the run before", "test now fails</span> <a href=\"/repos/2/tests?name=box%20TestHall\"", "Gone since the run before", "box TestSell", "failing check</span> negative tickets", `<a href="/runs/one">`,
	} {
		i := strings.Index(rest, want)
		if i < 0 {
			t.Fatalf("the page lacks %q after place %d:\n%s", want, at2, text)
		}
		at2, rest = at2+i, rest[i+len(want):]
	}
	_, two, _ := strings.Cut(text, `<a href="/runs/two">`)
	two, _, _ = strings.Cut(two, `<a href="/runs/one">`)
	for _, stayed := range []string{"TestRefund", "unused index"} {
		if strings.Contains(two, stayed) {
			t.Errorf("%s was there before and still is, and is said to come or go:\n%s", stayed, two)
		}
	}
	if strings.Contains(text, "/runs/other") {
		t.Error("another pull request is part of the story")
	}
	for page, link := range map[string]string{"/runs": `href="/repos/2/pulls/41"`, "/runs/one": `href="/repos/2/pulls/41"`} {
		if _, text := w.browser().get(page); !strings.Contains(text, link) {
			t.Errorf("%s does not lead to the pull request", page)
		}
	}
	for _, path := range []string{"/repos/2/pulls/43", "/repos/2/pulls/x", "/repos/x/pulls/41", "/repos/1/pulls/41"} {
		if status, _ := w.browser().get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// The history of a test says in which runs it failed or flaked, how often it flipped on
// the same code, and how long it took on bases.
func TestTestPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.clock().Add(-time.Hour)
	const name = "example.com/box TestSell/<b>"
	for i, o := range []store.Outcome{"", store.Flaky, "", "", store.Broken} {
		id := fmt.Sprint("run", i)
		w.save(store.Run{ID: id, Repo: "acme/box", RepoID: 2, Number: 40 + i, HeadSHA: "67541335b2da", State: store.Finished, Verdict: "PASS", Created: at.Add(time.Duration(i) * time.Minute), Ended: at})
		if o != "" {
			w.index(id, name, o)
			continue
		}
		w.index(id, "another", store.Flaky)
	}
	id := gate.ID{Unit: ".", Package: "example.com/box", Test: "TestSell/<b>"}
	base, err := json.Marshal(map[string]any{"when": at, "cases": []any{map[string]any{"id": id, "test": gate.Test{Status: "pass", Elapsed: 1234 * time.Millisecond}}}})
	if err == nil {
		err = w.db.BaseResults("2").Save(t.Context(), "key", base)
	}
	if err == nil {
		err = w.db.Flakes("2").Add(t.Context(), "go1.26", []string{gate.Known{ID: id}.Key()})
	}
	if err == nil {
		err = w.db.Flakes("2").Add(t.Context(), "go1.26", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	page := "/repos/2/tests?name=" + url.QueryEscape(name)
	status, text := w.browser().get(page)
	for _, want := range []string{
		"TestSell/&lt;b&gt;", "It failed in 1 and flaked in 1 of 5 runs that compared tests; 3 reported nothing of it", "gave both results in 1 of 2 runs on record", "1.2s",
		"/runs/run4", "/runs/run1", "2 runs that reported nothing of it", "failed of runs: 5/5 on the head, 0/5 on the base",
	} {
		if status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%d, the page lacks %q", status, want)
		}
	}
	if t.Failed() {
		t.Fatal(text)
	}
	if _, text := w.browser().get("/repos/2/tests"); !strings.Contains(text, "TestSell/&lt;b&gt;") || !strings.Contains(text, "1 run") {
		t.Errorf("the list lacks the test:\n%s", text)
	}
	if status, _ := w.browser().get("/repos/2/tests?name=unheard"); status != http.StatusNotFound {
		t.Errorf("a test that no one knows: %d", status)
	}
}

// A page of a run is small however much the run wrote: outputs by their end, failures
// first, the rest where it is asked for.
func TestLongOutputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	long := func(end string) string { return strings.Repeat(`"<&>" and so on`+"\n", 8_000) + end } // more than 100 kB
	var rep report.Report
	var lines bytes.Buffer
	for i := range 700 {
		id, exit := fmt.Sprint("E", i+1), 0
		if i == 650 {
			exit = 1
		}
		fmt.Fprintf(&lines, `{"id":%q,"agent":"gate","task":"t","command":%q,"cwd":".","exit":%d,"executed":true,"stdout":{"spill":"spill/%s.stdout"},"stderr":{},"hash":""}`+"\n", id, strings.Repeat("go test ", 800), exit, id)
		much := 1
		if i > 600 {
			much = 2000
		}
		put(t, dir, "spill/"+id+".stdout", strings.Repeat(`"<&>" and so on`+"\n", much)+"the end of "+id+"\n")
	}
	put(t, dir, evidenceFile, lines.String())
	for i := range 40 {
		c := failingCheck(fmt.Sprint("check ", i), "")
		c.ID, c.Actual, c.Command, c.Expected = fmt.Sprint("C", i), long("the very end"), long(""), long("")
		rep.Checks = append(rep.Checks, c)
		rep.Findings = append(rep.Findings, report.Finding{Severity: report.SeverityError, Title: "finding", Detail: long("end of details"), Repro: long("")})
	}
	rep.Outcome, rep.Trigger, rep.Trust, rep.Verdict, rep.Reasons = report.Completed, "cli", "local", report.Fail, []string{"x"}
	body, err := rep.JSON()
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, reportFile, string(body))
	w.importRun("r", dir)
	w.save(store.Run{ID: "r", Repo: "acme/box", RepoID: 2, Number: 41, State: store.Finished, Verdict: "FAIL", Ended: w.clock()})
	b := w.browser()
	status, text := b.get("/runs/r")
	if status != http.StatusOK || len(text) > 1<<20 {
		t.Errorf("%d, %d bytes", status, len(text))
	}
	for _, want := range []string{"the very end", "end of details", "before this", "the end of E651", `id="E651"`, `data-load="/runs/r/evidence/E`, "450 more executions", "20 more checks", "10 more findings"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if status, text := b.get("/runs/r/evidence/E699"); status != http.StatusOK || !strings.Contains(text, "the end of E699") || !strings.Contains(text, "<html") {
		t.Errorf("the page of an execution: %d\n%.2000s", status, text)
	}
	if status, text := b.get("/runs/r/evidence/E699?part"); status != http.StatusOK || !strings.Contains(text, "the end of E699") || strings.Contains(text, "<html") {
		t.Errorf("what an execution wrote: %d\n%.2000s", status, text)
	}
	for _, none := range []string{"/runs/r/evidence/E9999", "/runs/r/evidence/E", "/runs/x/evidence/E1"} {
		if status, _ := b.get(none); status != http.StatusNotFound {
			t.Errorf("%s: %d", none, status)
		}
	}
}

// Text is compressed for who accepts it, and streams, what is small in itself and what
// others ask for are not.
func TestCompressed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("r", 2)
	w.save(store.Run{ID: "now", Repo: "acme/box", RepoID: 2, State: store.Running})
	for path, want := range map[string]bool{"/runs/r": true, "/runs/r/files/report.json": true, "/runs/r/files/events.jsonl": true, "/assets/ycbot.css": true, "/queue.json": true, "/none": true, "/runs/now/events": false, "/queue/events": false} {
		for _, accept := range []string{"gzip, br", "br;q=1.0, gzip;q=0.5", "gzip;q=0", "identity", ""} {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
			r.Header.Set("Accept-Encoding", accept)
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			packed := resp.Header.Get("Content-Encoding") == "gzip"
			if packed != (want && (accept == "gzip, br" || strings.Contains(accept, "0.5"))) {
				t.Errorf("%s, %q: %v", path, accept, resp.Header)
			}
			if packed && want {
				z, err := gzip.NewReader(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := io.ReadAll(z); err != nil || len(text) < 100 {
					t.Errorf("%s: %d bytes, %v", path, len(text), err)
				}
			}
			resp.Body.Close()
		}
	}
}

// The token of forms is another one on each page, so that the size of a compressed page
// does not give it away, and each of them counts.
func TestMaskedToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("r", 1)
	b := w.loggedIn("alice")
	first, second := b.form("/runs/r", "/runs/r/verify"), b.form("/runs/r", "/runs/r/verify")
	if first.Get("csrf") == second.Get("csrf") {
		t.Error("the token is always the same")
	}
	for _, form := range []url.Values{second, first} {
		if status, _ := b.do(http.MethodPost, "/runs/r/verify", form); status != http.StatusOK {
			t.Errorf("%d", status)
		}
	}
	for _, bad := range []string{"", "00", strings.Repeat("00", 64), first.Get("csrf")[2:] + "00"} {
		first.Set("csrf", bad)
		if status, _ := b.do(http.MethodPost, "/runs/r/verify", first); status != http.StatusForbidden {
			t.Errorf("token %q: %d", bad, status)
		}
	}
}

// Accept is offered where expectations were given up, to who may write, and carries the
// person's reason; it needs what all buttons need.
func TestAcceptButton(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	given := &report.Expectations{Policy: "acknowledge", Dropped: []report.Expectation{{Test: "box TestSell"}}}
	run := store.Run{ID: "r", Repo: "acme/box", RepoID: 1, Number: 41, HeadSHA: strings.Repeat("a", 40), Verdict: "PARTIAL"}
	w.reported(run, report.Report{Expectations: given})
	run.ID = "broken"
	w.reported(run, report.Report{Expectations: &report.Expectations{Policy: "strict", Regressed: []report.Expectation{{Test: "box TestSell"}}}})
	run.ID = "done"
	w.reported(run, report.Report{Expectations: given, Accepted: []report.Acceptance{{By: "jo", Digest: given.Digest(), At: "2026-11-23T00:00:00Z"}}})
	run.ID = "cut"
	w.reported(run, report.Report{Expectations: given, Outcome: report.TimedOut})
	alice := w.loggedIn("alice")
	for id, want := range map[string]bool{"r": true, "broken": false, "done": false, "cut": false} {
		if _, text := alice.get("/runs/" + id); strings.Contains(text, "/accept") != want {
			t.Errorf("%s: the button is there: %t, want %t", id, !want, want)
		}
	}
	if _, text := alice.get("/runs/r"); !strings.Contains(text, "Changed expectations") || !strings.Contains(text, "box TestSell") {
		t.Error("the page does not say what would be accepted")
	}
	reader := w.loggedIn("reader")
	if _, text := reader.get("/runs/r"); strings.Contains(text, "/accept") {
		t.Error("who may only read is offered to accept")
	}
	form := alice.form("/runs/r", "/runs/r/accept")
	form.Set("reason", "the old limit was wrong")
	for name, b := range map[string]*browser{"a reader": reader, "a stranger": w.browser(), "mallory": w.loggedIn("mallory")} {
		if status, _ := b.do(http.MethodPost, "/runs/r/accept", form); status == http.StatusOK {
			t.Errorf("%s may accept", name)
		}
	}
	if status, _ := alice.do(http.MethodPost, "/runs/r/accept", form, "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
		t.Errorf("from another site: %d", status)
	}
	if len(w.pressed) != 0 {
		t.Fatalf("pressed %+v", w.pressed)
	}
	if status, text := alice.do(http.MethodPost, "/runs/r/accept", form); status != http.StatusOK || !strings.Contains(text, "Accepted.") {
		t.Errorf("%d\n%s", status, text)
	}
	if len(w.pressed) != 1 || w.pressed[0].Button != Accept || w.pressed[0].Reason != "the old limit was wrong" || w.pressed[0].Who != "alice" {
		t.Errorf("pressed %+v", w.pressed)
	}
}

// Programs get the queue as JSON, with what the viewer may see and no more, and those who
// watch it get it again when it has changed.
func TestQueueForPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inLine(2, "The first change")
	w.queue.add(1, w.clock(), "all workers are busy", job.Job{Number: 99, Text: &event.Text{Title: "A private title"}})
	_, text := w.browser().get("/queue.json")
	var got queueBody
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "ycbot.queue/v1" || got.Length != 4 || len(got.Working) != 1 || len(got.Waiting) != 3 || got.Waiting[0].Position != 1 || got.Waiting[0].PR != 42 || got.Waiting[0].AskedBy != "jo" || got.Waiting[0].Why != "all workers are busy" || got.Working[0].Title != "The first change" {
		t.Errorf("%+v", got)
	}
	if strings.Contains(text, "private") || strings.Contains(text, `"pr":99`) || strings.Contains(text, "repo1") {
		t.Errorf("a stranger gets %s", text)
	}
	events := w.browser().listen("/queue/events", "", func(m message) bool { return m.event == "put" })
	if last := events[len(events)-1]; !strings.Contains(last.data, "The first change") || strings.Contains(last.data, "A private title") {
		t.Errorf("%+v", last)
	}
}
