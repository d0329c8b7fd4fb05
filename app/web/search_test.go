package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/store"
)

// What is written is read as what it looks like, or as what it says that it is.
func TestParseSearch(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]term{
		"":                              nil,
		"#12":                           {{ofPull, "12"}},
		"12 fail":                       {{ofPull, "12"}, {ofVerdict, "FAIL"}},
		"acme/box#12":                   {{ofRepo, "acme/box"}, {ofPull, "12"}},
		"@maria Partial running":        {{ofPerson, "maria"}, {ofVerdict, "PARTIAL"}, {ofState, "running"}},
		"67541335B2 deadbeef":           {{ofCommit, "67541335b2"}, {ofWord, "deadbeef"}},
		`test:"pkg TestX" commit:DEAD`:  {{ofTest, "pkg TestX"}, {ofCommit, "dead"}},
		"box tests/test_a.py::test_one": {{ofWord, "box"}, {ofWord, "tests/test_a.py::test_one"}},
		"verdict:pass by:@jo pr:#7":     {{ofVerdict, "PASS"}, {ofPerson, "jo"}, {ofPull, "7"}},
		"repo:":                         {{ofWord, "repo:"}},
		`"" :`:                          {{ofWord, ":"}},
	} {
		if diff := cmp.Diff(want, parseSearch(text).terms, cmp.AllowUnexported(term{})); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		again := ""
		for _, t := range want {
			again += " " + t.Word()
		}
		if diff := cmp.Diff(want, parseSearch(again).terms, cmp.AllowUnexported(term{})); diff != "" {
			t.Errorf("%q written again as %q: %s", text, again, diff)
		}
	}
}

// What cannot be is not looked for in silence: the page names what can.
func TestSearchMistake(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"state:zzz":     "no state “zzz”: there are running, finished, failed, superseded, stopped and skipped.",
		"verdict:maybe": "no verdict “MAYBE”: there are PASS, FAIL, PARTIAL and ERROR.",
		"box pr:abc":    "“abc” is not a pull request number",
		"pr:0":          "“0” is not a pull request number",
		"state:Running verdict:pass pr:#7 12 box state": "",
	} {
		if got := parseSearch(text).mistake(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	w := newWorld(t)
	if _, text := w.browser().get("/runs?q=state:zzz"); !strings.Contains(text, "There is no state “zzz”") {
		t.Error(text)
	}
}

// index stores what a run says of a test.
func (w *world) index(id, test string, o store.Outcome) {
	w.t.Helper()
	run, err := w.db.Run(w.t.Context(), id)
	if err == nil {
		err = w.db.SaveTests(w.t.Context(), run, true, []store.TestResult{{Test: test, Outcome: o, Detail: "failed of runs: 5/5 on the head, 0/5 on the base"}})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func listed(text string) string {
	var out []string
	for _, m := range regexp.MustCompile(`class="main" href="/runs/([^"]+)"`).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return strings.Join(out, " ")
}

// Runs are found by everything that the page says, which says what it looked for.
func TestSearchPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, r := range []store.Run{
		{ID: "a", Repo: "acme/gateway", Number: 12, Actor: "maria", HeadSHA: "67541335b2da", State: store.Finished, Verdict: "FAIL"},
		{ID: "b", Repo: "acme/gateway", Number: 12, Actor: "jo", HeadSHA: "77541335b2da", State: store.Finished, Verdict: "PASS"},
		{ID: "c", Repo: "acme/gateway", Number: 13, Actor: "maria", HeadSHA: "87541335b2da", State: store.Running},
	} {
		r.RepoID, r.Created = 2, w.clock().Add(time.Duration(i)*time.Second)
		w.save(r)
	}
	w.index("a", "gate TestParse", store.Broken)
	b := w.browser()
	for query, want := range map[string][2]string{
		"gateway":              {"c b a", "in repositories with “gateway” in the name"},
		"GATE #12":             {"b a", "of pull request #12"},
		"acme/gateway#12":      {"b a", "of pull request #12"},
		"maria":                {"c a", "asked for by maria"},
		"@jo pass":             {"b", "with verdict PASS"},
		"6754133":              {"a", "of commit 6754133"},
		"testparse":            {"a", "in which a test with “testparse” in its name failed"},
		"test:parse @maria":    {"a", "asked for by maria"},
		"running":              {"c", "that are running"},
		"#12 #13":              {"", "No run matches"},
		"fail @jo":             {"", "No run matches"},
		"verdict:nonsense":     {"", "No run matches"},
		"<script>x</script>":   {"", "&lt;script&gt;"},
		`%' or 1=1 -- \ _ "a"`: {"", "No run matches"},
	} {
		status, text := b.get("/runs?q=" + url.QueryEscape(query))
		if got := listed(text); status != http.StatusOK || got != want[0] || !strings.Contains(text, want[1]) {
			t.Errorf("%q: %d %q, want %q and %q\n%s", query, status, got, want[0], want[1], text)
		}
	}
	_, text := b.get("/runs?q=gate") // could be part of a test's name as well
	if !strings.Contains(text, "/runs?q=test%3agate") {
		t.Errorf("another reading is not offered:\n%s", text)
	}
}

// Search says nothing of repositories that someone may not see: whatever is looked for, the
// page is byte for byte that of a server where they do not exist.
func TestSearchLeaksNothing(t *testing.T) {
	t.Parallel()
	with, without := newWorld(t), newWorld(t)
	for _, w := range []*world{with, without} {
		w.save(store.Run{ID: "open", Repo: "acme/open", RepoID: 2, Number: 1, Actor: "jo", HeadSHA: "1111111aaaa", State: store.Finished, Verdict: "PASS", Created: w.clock().Add(-48 * time.Hour)})
	}
	for i := range 2 * pageRuns {
		id := fmt.Sprint("hidden", i)
		with.save(store.Run{ID: id, Repo: "acme/vault", RepoID: 1, Number: 77, Actor: "spy", HeadSHA: "2222222bbbb", State: store.Finished, Verdict: "ERROR", Title: "vault"})
		with.index(id, "vault TestKey", store.Broken)
	}
	for _, path := range []string{
		"/runs", "/runs?q=vault", "/runs?q=repo:vault", "/runs?q=acme", "/runs?q=acme/vault", "/runs?q=%2377", "/runs?q=spy", "/runs?q=%40spy", "/runs?q=2222222", "/runs?q=commit:2222222bbbb", "/runs?q=error",
		"/runs?q=testkey", "/runs?q=test:TestKey", "/runs?q=verdict:ERROR+acme", "/runs?repo=acme/vault&number=77", "/runs?q=open&before=9000000000000000.hidden1", "/repos/1/pulls/77", "/repos/1/tests",
		"/repos/1/tests?name=vault+TestKey", "/repos/3/pulls/77", "/runs/hidden1/evidence/E1", "/queue.json",
	} {
		for _, who := range []string{"", "mallory"} {
			a, b := with.browser(), without.browser()
			if who != "" {
				a, b = with.loggedIn(who), without.loggedIn(who)
			}
			// What differs between two servers and two sessions anyhow.
			same := func(s string) string {
				s = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).ReplaceAllString(s, "")
				s = regexp.MustCompile(`name="csrf" value="[0-9a-f]+"`).ReplaceAllString(s, "")
				return regexp.MustCompile(`"at":"[^"]+"`).ReplaceAllString(s, "")
			}
			statusA, textA := a.get(path)
			statusB, textB := b.get(path)
			if statusA != statusB || regexp.MustCompile(`datetime="[^"]+" title="[^"]+"`).ReplaceAllString(same(textA), "") != regexp.MustCompile(`datetime="[^"]+" title="[^"]+"`).ReplaceAllString(same(textB), "") {
				t.Errorf("%s, %q: %d and %d: %s", path, who, statusA, statusB, cmp.Diff(same(textB), same(textA)))
			}
		}
	}
	if _, text := with.loggedIn("alice").get("/runs?q=vault+testkey"); !strings.Contains(text, `"/runs/hidden`) {
		t.Errorf("who may see it does not find it:\n%s", text)
	}
}
