package web

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
	browsertest "github.com/ycbot/ycbot/internal/testing/browser"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// axeVersion is that of the npm package axe-core, which finds what people cannot read or
// reach: https://github.com/dequelabs/axe-core.
const axeVersion = "4.10.3"

// axe is the script of axe-core. The test is skipped where npm cannot bring it.
func axe(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("needs npm, which brings axe-core")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), npm, "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix", dir, "axe-core@"+axeVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs axe-core, which npm cannot install: %v: %.300s", err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// everyKind stores runs and jobs so that each page has something of all that it can show,
// and returns the pages.
func (w *world) everyKind() []string {
	w.t.Helper()
	w.several()
	w.inLine(1, "Sell seats in one step")
	w.importRun("run1", recorded(w.t))
	given := &report.Expectations{Policy: "acknowledge", Dropped: []report.Expectation{{Test: "box TestSell"}}}
	at := w.clock().Add(-3 * time.Hour)
	run := store.Run{ID: "before", Repo: "acme/boxoffice", RepoID: 1, Number: 41, HeadSHA: "67541335b2da", Trigger: "pull_request", Actor: "maria", Verdict: "PARTIAL", Title: "Sell seats in one step", Reason: "a test was removed", Created: at}
	w.reported(run, report.Report{
		Expectations: given, Tests: &report.Tests{HeadPassed: 12, BasePassed: 13, HeadFailed: 2, Regressed: []string{"example.com/boxoffice TestSellAll"}, Flaky: []string{"example.com/boxoffice TestSell"}, PreExisting: []string{"example.com/boxoffice TestOld"}},
		Checks:   []report.Check{failingCheck("the tests pass", "example.com/boxoffice TestSellAll")},
		Findings: []report.Finding{{Severity: report.SeverityWarning, Title: "an index is not used", Path: "sell.go", Line: 7, Detail: "details", Repro: "go vet ./..."}, {Severity: report.SeverityError, Title: "another", Detail: "details"}},
	})
	w.index("before", "example.com/boxoffice TestSellAll", store.Broken)
	return []string{
		"/runs", "/runs?q=maria+boxoffice", "/runs?q=nothing-like-it", "/runs/run1", "/runs/run0", "/runs/before", "/runs/run1/evidence/E14", "/runs/run1/files/", "/runs/run1/agents/92078ac011128b11",
		"/repos/1/pulls/41", "/repos/1/tests", "/repos/1/tests?name=example.com%2Fboxoffice+TestSellAll", "/queue", "/none",
	}
}

// Every page passes axe-core without a finding, wide and narrow, light and dark, with all
// that can be opened open, logged in and not.
func TestAccessible(t *testing.T) {
	variants.Only(t) // each page eight times in a browser; TestLooks has a browser as well
	script := axe(t)
	w := newWorld(t)
	pages := w.everyKind()
	for _, width := range []int64{1280, 390} {
		b := openWindow(t, width, 900)
		w.logIn(b, "alice")
		for _, colors := range []string{"light", "dark"} {
			for _, path := range pages {
				b.Run(browsertest.Theme(colors), chromedp.Navigate(w.URL+path), chromedp.WaitReady("main"))
				b.Run(chromedp.Evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })", nil))
				var found []struct{ ID, Help, Nodes string }
				var raw string
				b.Run(chromedp.Evaluate(script, nil), chromedp.Evaluate(`axe.run(document, { resultTypes: ['violations'] }).then((r) => JSON.stringify(r.violations.map((v) =>
					({ ID: v.id, Help: v.help, Nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + ' ' + n.any.concat(n.all, n.none).map((c) => c.message).join('; ')).join('\n\t') }))))`,
					&raw, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
				if err := json.Unmarshal([]byte(raw), &found); err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					t.Errorf("%s, %s, %d wide: %s: %s\n\t%s", path, colors, width, f.ID, f.Help, f.Nodes)
				}
				if wide := b.Eval("document.documentElement.scrollWidth > innerWidth"); wide == "true" {
					t.Errorf("%s at %d is wider than the window: %s", path, width, b.Eval("document.documentElement.scrollWidth"))
				}
				if colors == "light" || width == 1280 {
					b.picture(pictureName(path, width, colors), 1500)
				}
			}
		}
		b.Quiet()
	}
}

func pictureName(path string, width int64, colors string) string {
	name := []byte(path[1:])
	for i, c := range name {
		if c == '/' || c == '?' || c == '=' || c == '+' || c == '%' {
			name[i] = '_'
		}
	}
	size := "wide"
	if width < 600 {
		size = "narrow"
	}
	return "all-" + string(name) + "-" + size + "-" + colors
}

// Everything is reached by keyboard: the first stop leads over the bar to the content, and
// a run is searched, opened and its outputs are read without a mouse.
func TestByKeyboard(t *testing.T) {
	w := newWorld(t)
	w.finished("r", 1)
	b := openWindow(t, 1200, 800)
	w.logIn(b, "alice")
	b.Run(chromedp.Navigate(w.URL+"/runs"), chromedp.WaitReady("main"), chromedp.KeyEvent(kb.Tab))
	if got := b.Eval("document.activeElement.textContent + document.activeElement.getBoundingClientRect().left"); got != "Skip to the content0" {
		t.Errorf("the first stop is %q", got)
	}
	b.Run(chromedp.KeyEvent(kb.Enter))
	b.WaitFor("document.activeElement.id === 'main'")
	b.Run(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("repo2"), chromedp.KeyEvent(kb.Enter))
	b.WaitFor("location.search === '?q=repo2' && document.querySelector('.searched')")
	b.Run(chromedp.Navigate(w.URL + "/runs"))
	b.WaitFor("document.querySelector('.row .main')")
	for range 12 {
		if b.Eval("document.activeElement.className") == "main" {
			break
		}
		b.Run(chromedp.KeyEvent(kb.Tab))
	}
	b.Run(chromedp.KeyEvent(kb.Enter))
	b.WaitFor("location.pathname === '/runs/r' && document.getElementById('E14')")
	b.Run(chromedp.Evaluate("document.querySelector('#E14 summary').focus()", nil), chromedp.KeyEvent(kb.Enter))
	b.WaitFor("document.getElementById('E14').open")
	b.Run(chromedp.KeyEvent(kb.Tab))
	if got := b.Eval("document.activeElement.getAttribute('aria-label')"); got != "Command E14" {
		t.Errorf("after the execution comes %q", got)
	}
	b.Quiet()
}

// A lost connection is said in words, and the page goes on by itself when there is one
// again; the queue is brought up to date without being loaded.
func TestLostConnection(t *testing.T) {
	w := newWorld(t)
	w.inLine(1, "The first change")
	b := openWindow(t, 1200, 800)
	w.logIn(b, "alice")
	b.Run(chromedp.Navigate(w.URL+"/queue"), chromedp.Evaluate("window.first = true", nil))
	b.WaitFor("document.querySelector('#line').textContent.includes('The first change') && document.getElementById('connection').hidden")
	w.away.Store(true)
	w.CloseClientConnections()
	b.WaitFor("document.getElementById('connection').textContent.includes('The connection to the server was lost at')")
	if got := b.Eval("document.getElementById('connection').hidden"); got != "false" {
		t.Error("what is said is hidden")
	}
	w.queue.change(func() { w.queue.line.Waiting = w.queue.line.Waiting[:1]; w.queue.line.Length = 1 })
	w.away.Store(false)
	b.WaitFor("document.getElementById('connection').hidden && document.querySelector('#line').textContent.includes('1 of 1')")
	w.queue.change(func() { w.queue.line.Waiting, w.queue.line.Length = nil, 0 })
	b.WaitFor("document.querySelector('#line').textContent.includes('Nothing that you may see waits.')")
	if got := b.Eval("window.first"); got != "true" {
		t.Error("the page was loaded again")
	}
	b.Quiet()
}

// Outputs that are not on the page of a run are loaded when their execution is opened, and
// lead to a page of their own without JavaScript.
func TestLoadedOutput(t *testing.T) {
	w := newWorld(t)
	w.finished("r", 1)
	b := openWindow(t, 1200, 800)
	w.logIn(b, "alice")
	b.Run(chromedp.Navigate(w.URL+"/runs/r"), chromedp.Evaluate(`(() => { const e = document.getElementById('E14');
		e.querySelectorAll('.output, pre, p').forEach((o) => o.remove());
		const p = document.createElement('p'); p.dataset.load = '/runs/r/evidence/E14?part'; p.innerHTML = '<a href="/runs/r/evidence/E14">The command and what it wrote</a>'; e.append(p); e.open = true; })()`, nil))
	b.WaitFor("document.querySelector('#E14 .output pre')?.textContent.includes('sold -5')")
	b.Quiet()
}
