// Package browsertest gives tests a real browser.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take for what it does in a second on a quiet machine.
const patience = 60 * time.Second

// A Window is one of a browser that is the test's own. It is a context for chromedp.
type Window struct {
	context.Context
	t testing.TB

	mu      sync.Mutex
	dialogs []string
	errors  []string // scripts that failed
}

// Options are what a window is.
type Options struct {
	Width, Height int64
	Flags         []chromedp.ExecAllocatorOption // of the browser, beside those that every test needs
	Actions       []chromedp.Action              // before the first page
}

// Open opens a window. Without a browser the test is skipped.
func Open(tb testing.TB, o Options) *Window {
	tb.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			program = at
			break
		}
	}
	if program == "" {
		tb.Skip("no browser: install chromium")
	}
	profile, err := os.MkdirTemp("", "ycbot-browser-") //nolint:usetesting // what is left of the browser may still write there
	if err != nil {
		tb.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(2*time.Minute), chromedp.Flag("hide-scrollbars", true))
	allocator, end := chromedp.NewExecAllocator(tb.Context(), append(options, o.Flags...)...)
	ctx, cancel := chromedp.NewContext(allocator)
	ctx, stop := context.WithTimeout(ctx, 4*time.Minute)
	tb.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		stop()
		cancel()
		end()
		if c := chromedp.FromContext(ctx); c != nil && c.Allocator != nil {
			c.Allocator.Wait()
		}
		_ = os.RemoveAll(profile)
	})
	w := &Window{Context: ctx, t: tb}
	chromedp.ListenTarget(ctx, w.heard)
	first := []chromedp.Action{network.Enable(), page.Enable(), runtime.Enable(), emulation.SetDeviceMetricsOverride(o.Width, o.Height, 1, o.Width < 600)}
	w.Run(append(first, o.Actions...)...)
	return w
}

// heard notes what a page must not do.
func (w *Window) heard(e any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case *page.EventJavascriptDialogOpening:
		w.dialogs = append(w.dialogs, e.Message)
		go func() { _ = chromedp.Run(w.Context, page.HandleJavaScriptDialog(false)) }()
	case *runtime.EventExceptionThrown:
		w.errors = append(w.errors, e.ExceptionDetails.Error())
	}
}

// Run does something in the window.
func (w *Window) Run(actions ...chromedp.Action) {
	w.t.Helper()
	if err := chromedp.Run(w.Context, actions...); err != nil {
		w.t.Fatal(err)
	}
}

// Eval is what an expression says on the page.
func (w *Window) Eval(expression string) (out string) {
	w.t.Helper()
	w.Run(chromedp.Evaluate("String("+expression+")", &out))
	return out
}

// WaitFor waits until an expression is true on the page, or on one that comes after it.
func (w *Window) WaitFor(expression string) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		yes := false
		asked, stop := context.WithTimeout(w.Context, 2*time.Second) // a page that is left may never answer
		err := chromedp.Run(asked, chromedp.Evaluate("!!("+expression+")", &yes))
		stop()
		if err == nil && yes {
			return
		}
		select {
		case <-tick.C: // an error is one of a page that is not whole yet, or is just left
		case <-late:
			w.t.Fatalf("%s does not become true: %v\n%s", expression, err, w.Eval("document.body?.innerText"))
		}
	}
}

// Click clicks what a CSS selector names, when it is there.
func (w *Window) Click(selector string) {
	w.t.Helper()
	w.WaitFor("document.querySelector(" + strconv.Quote(selector) + ")")
	w.Run(chromedp.Click(selector, chromedp.ByQuery))
}

// Quiet fails where a page asked something in a dialog, or a script of it failed.
func (w *Window) Quiet() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.dialogs)+len(w.errors) > 0 {
		w.t.Errorf("dialogs %q, errors %q", w.dialogs, w.errors)
	}
}

// Theme has pages be "light" or "dark".
func Theme(name string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}})
}
