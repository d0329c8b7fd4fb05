package web

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/ycbot/ycbot/internal/store"
	browsertest "github.com/ycbot/ycbot/internal/testing/browser"
)

// images makes the pictures in the documentation again.
var images = flag.String("images", "", "write pictures of the pages to this `folder`")

// A window is a real browser.
type window struct {
	*browsertest.Window
	t *testing.T
}

// openWindow opens a window of a size. Without a browser the test is skipped.
func openWindow(t *testing.T, width, height int64, actions ...chromedp.Action) *window {
	t.Helper()
	return &window{browsertest.Open(t, browsertest.Options{Width: width, Height: height, Actions: actions}), t}
}

// logIn logs someone in.
func (w *world) logIn(b *window, who string) {
	w.github.mu.Lock()
	w.github.who = who
	w.github.mu.Unlock()
	b.Run(chromedp.Navigate(w.URL + "/login?next=/runs"))
}

// picture writes what the window shows to the folder that -images names.
func (w *window) picture(name string, height int64) {
	w.t.Helper()
	if *images == "" {
		return
	}
	var data []byte
	w.Run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		width := int64(0)
		_ = chromedp.Evaluate("innerWidth", &width).Do(ctx)
		data, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).WithCaptureBeyondViewport(true).
			WithClip(&page.Viewport{Width: float64(width), Height: float64(height), Scale: 1}).Do(ctx)
		return err
	}))
	if err := os.MkdirAll(*images, 0o755); err != nil {
		w.t.Fatal(err)
	}
	small, err := fewColors(data)
	if err == nil {
		err = os.WriteFile(filepath.Join(*images, name+".png"), small, 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// fewColors makes a picture small: of its colors it keeps the 256 that are most frequent.
func fewColors(data []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	counts, bounds := map[color.RGBA]int{}, full.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return counts[b] - counts[a] })
	var palette color.Palette
	for _, c := range frequent[:min(len(frequent), 256)] {
		palette = append(palette, c)
	}
	few := image.NewPaletted(bounds, palette)
	draw.Draw(few, bounds, full, bounds.Min, draw.Src)
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, few)
	return out.Bytes(), err
}

// several stores runs as a list has them.
func (w *world) several() {
	now := w.clock()
	for i, r := range []store.Run{
		{Repo: "acme/boxoffice", Number: 43, State: store.Running, Actor: "maria", Trigger: "pull_request"},
		{Repo: "acme/boxoffice", Number: 41, State: store.Finished, Verdict: "FAIL", Title: "Sell seats in one step", Reason: `verification: check "a negative number of tickets is refused" fails (introduced)`, Actor: "dev-bot", Trigger: "pull_request", CostUSD: 0.31, Tokens: 81200},
		{Repo: "acme/boxoffice", Number: 40, State: store.Finished, Verdict: "PASS", Title: "compute what is left only once", Reason: "build, tests and lint pass, 7 adversarial checks hold", Actor: "maria", Trigger: "comment", CostUSD: 0.27, Tokens: 74000},
		{Repo: "acme/gateway", Number: 512, State: store.Finished, Verdict: "PARTIAL", Title: "retry idempotent requests", Reason: "environment: 214 of 380 tests fail on both sides", Actor: "jo", Trigger: "pull_request", CostUSD: 0.52, Tokens: 190000},
		{Repo: "acme/gateway", Number: 511, State: store.Superseded, Title: "bump the parser", Reason: "a newer commit came", Actor: "renovate", Trigger: "pull_request"},
		{Repo: "acme/gateway", Number: 509, State: store.Finished, Verdict: "PASS", Title: "read the limit from the header", Reason: "build, tests and lint pass, 5 adversarial checks hold", Actor: "jo", Trigger: "rerequest", CostUSD: 0.22, Tokens: 61000},
		{Repo: "acme/docs", Number: 88, State: store.Skipped, Reason: "paths-ignored: all that it changes is in on.paths_ignore", Actor: "kim", Trigger: "pull_request"},
		{Repo: "acme/gateway", Number: 508, State: store.Failed, Verdict: "ERROR", Title: "stream uploads", Reason: "the model's provider did not answer", Actor: "jo", Trigger: "pull_request"},
	} {
		r.ID, r.RepoID, r.HeadSHA = fmt.Sprintf("run%d", i), 1, strings.Repeat(fmt.Sprintf("%x", 7+i), 40)
		r.Created = now.Add(-time.Duration(i*i*i+1) * 7 * time.Minute)
		r.Started = r.Created
		if r.State != store.Running {
			r.Ended = r.Started.Add(time.Duration(40+37*i) * time.Second)
		}
		w.save(r)
	}
}

// overlaps lists the neighbours in rows of which one lies over the other. What counts is where
// their text ends, which may be beyond their boxes, but for what they cut off.
const overlaps = `(() => {
	const union = (a, b) => !b || !b.width ? a : !a ? b : {left: Math.min(a.left, b.left), right: Math.max(a.right, b.right), top: Math.min(a.top, b.top), bottom: Math.max(a.bottom, b.bottom), width: 1};
	const shown = node => {
		const range = document.createRange();
		range.selectNodeContents(node);
		if (node.nodeType == Node.TEXT_NODE) return range.getBoundingClientRect();
		if (node.nodeType != Node.ELEMENT_NODE) return null;
		if (getComputedStyle(node).overflowX != "visible") return node.getBoundingClientRect();
		return [...node.childNodes].map(shown).reduce(union, null);
	};
	const out = [];
	for (const row of document.querySelectorAll("tr, .row, .row .facts, .bar, .bar nav")) {
		const columns = [...row.children].map(e => [e.textContent.trim(), shown(e)]).filter(c => c[1] && c[1].width);
		columns.forEach(([text, a], i) => columns.slice(i + 1).forEach(([other, b]) => {
			if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) out.push(text + " / " + other);
		}));
	}
	return out.join("\n");
})()`

// The pages can be read on a desktop and on a phone, light and dark: nothing is wider than
// the window, no column lies over another, and nothing is executed that fails.
func TestLooks(t *testing.T) {
	w := newWorld(t)
	w.several()
	w.inLine(1, "Sell seats in one step")
	w.importRun("run1", recorded(t))
	for _, size := range []struct {
		name                    string
		width, height, list, of int64
	}{{"desktop", 1200, 800, 620, 1500}, {"phone", 390, 844, 844, 1500}} {
		b := openWindow(t, size.width, size.height)
		w.logIn(b, "alice")
		for _, colors := range []string{"light", "dark"} {
			for name, path := range map[string]string{"runs": "/runs", "run": "/runs/run1", "queue": "/queue"} {
				b.Run(browsertest.Theme(colors), chromedp.Navigate(w.URL+path), chromedp.WaitReady("main"))
				if wide := b.Eval("document.documentElement.scrollWidth > innerWidth"); wide == "true" {
					t.Errorf("%s on a %s is wider than the window: %s", path, size.name, b.Eval("document.documentElement.scrollWidth"))
				}
				if over := b.Eval(overlaps); over != "" {
					t.Errorf("%s on a %s has columns that lie over each other:\n%s", path, size.name, over)
				}
				dark := b.Eval("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
				if dark != (colors == "dark") {
					t.Errorf("%s is not %s", path, colors)
				}
				height := size.list
				if name == "run" {
					height = size.of
				}
				b.picture(name+"-"+size.name+"-"+colors, height)
			}
		}
		b.Quiet()
	}
}

// What strangers write is text wherever it stands: nothing of it is executed, loaded or
// sent anywhere, in titles, names of branches and files, commands, outputs and transcripts.
func TestHostileText(t *testing.T) {
	w := newWorld(t)
	attack := `"><img src=x onerror=alert(1)><script>alert(2)</script><svg/onload=alert(3)>{{.}}</pre></textarea>'-alert(4)-'`
	link := `[x](javascript:alert(5)) ![x](` + w.github.URL + `/login/oauth/authorize) <a href="javascript:alert(6)">x</a> <iframe src="javascript:alert(7)"></iframe>`
	dir := recorded(t)
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(attack + link)
	inner := string(quoted[1 : len(quoted)-1])
	hostile := strings.NewReplacer(
		"Sell seats in one step", inner, "a negative number of tickets is refused", inner, "an error and no sale", inner, "sold -5, 105 left", inner,
		"data races", inner, "! go run ./cmd/box sell -5", inner,
	)
	put(t, dir, "report.json", hostile.Replace(string(text)))
	log, err := os.ReadFile(filepath.Join(dir, eventsFile))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, eventsFile, strings.NewReplacer("go build ./...", inner, "### Check: the whole hall can be sold", inner, `"git_diff_files"`, `"`+inner+`"`,
		`"agent":"verification"`, `"agent":"`+inner+`"`, `"stage":"checkout"`, `"stage":"`+inner+`"`).Replace(string(log)))
	proofs, err := os.ReadFile(filepath.Join(dir, evidenceFile))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, evidenceFile, strings.NewReplacer("go vet ./...", inner, `"task":"base/setup"`, `"task":"`+inner+`"`).Replace(string(proofs)))
	put(t, dir, "spill/E13.stdout", attack+link)
	put(t, dir, "<img src=x onerror=alert(8)>.html", attack)
	put(t, dir, "x.md", attack+link)
	w.importRun("r", dir)
	w.save(store.Run{
		ID: "r", Repo: "acme/" + attack, RepoID: 1, Number: 1, BaseSHA: attack, HeadSHA: attack, Trigger: attack, Actor: attack,
		State: store.Finished, Verdict: attack, Title: attack, Reason: attack, Ended: w.clock(),
	})
	w.save(store.Run{ID: "live", Repo: "acme/" + attack, RepoID: 1, Number: 1, Actor: attack, State: store.Running})
	w.importRun("live", dir)
	w.inLine(1, attack)
	b := openWindow(t, 1200, 800)
	w.logIn(b, "alice")
	seen := func(want string) {
		t.Helper()
		if got := b.Eval("document.querySelectorAll('main img, main script, main iframe, main svg, [onerror], [onload], a[href^=javascript]').length"); got != "0" {
			t.Errorf("%s: %s elements that strangers made:\n%s", b.Eval("location.href"), got, b.Eval("document.querySelector('main').innerHTML"))
		}
		if !strings.Contains(b.Eval("document.body.textContent"), want) {
			t.Errorf("%s does not show what was written as text", b.Eval("location.href"))
		}
	}
	for path, want := range map[string]string{
		"/runs": "onerror=alert(1)", "/queue": "onerror=alert(1)", "/runs/r": "onerror=alert(1)", "/runs/r/agents/92078ac011128b11": "onerror=alert(1)", "/runs/r/files/": "onerror=alert(8)",
		"/runs/r/files/x.md": "onerror=alert(1)", "/runs?repo=" + url.QueryEscape(attack): "Runs", "/" + url.PathEscape(attack): "404",
	} {
		b.Run(chromedp.Navigate(w.URL+path), chromedp.WaitReady("body"))
		seen(want)
	}
	b.Run(chromedp.Navigate(w.URL + "/runs/live"))
	w.save(store.Run{ID: "live", Repo: "acme/" + attack, RepoID: 1, Number: 1, Actor: attack, State: store.Finished, Verdict: "PASS", Reason: attack, Ended: w.clock()})
	b.WaitFor("document.querySelector('#head .big').textContent === 'PASS'")
	seen("onerror=alert(1)")
	// The policy holds by itself too: a script that got into a page would not run.
	b.Run(chromedp.Evaluate(`(() => { const s = document.createElement('script'); s.textContent = 'window.executed = 1'; document.body.append(s);
		const i = document.createElement('div'); i.innerHTML = '<img src=x onerror="window.executed = 2">'; document.body.append(i); })()`, nil))
	if got := b.Eval("window.executed"); got != "undefined" {
		t.Errorf("a script that was put into the page is executed: %s", got)
	}
	b.Quiet()
	w.github.mu.Lock()
	defer w.github.mu.Unlock()
	if len(w.github.codes) != 0 { // that of the login is used up
		t.Errorf("an image of a stranger was loaded: %v", w.github.codes)
	}
}

// A run is watched from its first stage to its verdict without loading the page again, by
// someone who opened a proof and keeps it open, also across a broken connection.
func TestWatchedInBrowser(t *testing.T) {
	w := newWorld(t)
	run := store.Run{ID: "r", Repo: "acme/boxoffice", RepoID: 1, Number: 41, HeadSHA: "67541335b2da", State: store.Running, Trigger: "pull_request", Actor: "maria"}
	w.save(run)
	from, dir := recorded(t), t.TempDir()
	m, err := w.db.Mirror(t.Context(), "r", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := os.CopyFS(filepath.Join(dir, "spill"), os.DirFS(filepath.Join(from, "spill"))); err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for _, name := range []string{eventsFile, evidenceFile} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		lines[name] = strings.SplitAfter(string(data), "\n")
	}
	reach := func(events, proofs int) {
		t.Helper()
		put(t, dir, eventsFile, strings.Join(lines[eventsFile][:events], ""))
		put(t, dir, evidenceFile, strings.Join(lines[evidenceFile][:proofs], ""))
		if err := m.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b := openWindow(t, 1200, 800, browsertest.Theme("light"))
	w.logIn(b, "alice")
	b.Run(chromedp.Navigate(w.URL + "/runs/r"))
	b.Run(chromedp.Evaluate("window.first = true", nil))
	reach(6, 1)
	b.WaitFor("document.querySelector('#stages .running strong')?.textContent === 'gate' && !!document.getElementById('E1')")
	b.Run(chromedp.Evaluate("document.getElementById('E1').open = true", nil))
	reach(45, 14)
	b.WaitFor("document.querySelector('#agents .agent strong')?.textContent === 'verification' && !!document.getElementById('E14')")
	b.WaitFor("!document.getElementById('commands-gate').open") // it is over, and no one opened it
	b.picture("live-desktop-light", 700)
	b.Run(chromedp.Click("#commands-gate summary"))
	w.CloseClientConnections()
	reach(69, 19)
	body, err := os.ReadFile(filepath.Join(from, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, reportFile, string(body))
	if err := m.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	run.State, run.Verdict, run.Ended = store.Finished, "FAIL", w.clock()
	w.save(run)
	b.WaitFor("document.querySelector('#head .big').textContent === 'FAIL' && document.querySelector('#report h2')?.textContent === 'What fails'")
	for expression, want := range map[string]string{
		"window.first": "true", "document.getElementById('E1').open": "true", "document.getElementById('commands-gate').open": "true", "document.querySelectorAll('#proofs > details').length": "19",
		"document.querySelectorAll('#stages .done').length": "4", "document.title": "FAIL · acme/boxoffice #41 · ycbot",
		"new Set([...document.querySelectorAll('#proofs > details')].map(e => e.id)).size": "19",
	} {
		if got := b.Eval(expression); got != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
	b.Quiet()
}

// Without JavaScript the page of a finished run has everything, and the buttons work.
func TestWithoutJavaScript(t *testing.T) {
	w := newWorld(t)
	w.finished("r", 1)
	b := openWindow(t, 1200, 800, emulation.SetScriptExecutionDisabled(true))
	w.logIn(b, "alice")
	var text, next string
	b.Run(chromedp.Navigate(w.URL+"/runs/r"), chromedp.Text("main", &text), chromedp.Click("#E14 summary"), chromedp.WaitVisible("#E14 .output"))
	for _, want := range []string{"FAIL", "What fails", "sold -5, 105 left", "verification", "go build ./...", "exit 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	b.Run(chromedp.Click(`form[action$="/verify"] button`), chromedp.WaitVisible(".notice"), chromedp.Location(&next))
	if len(w.pressed) != 1 || w.pressed[0].Button != Verify || !strings.Contains(next, "asked=verify") {
		t.Errorf("pressed %v, then at %s", w.pressed, next)
	}
}
