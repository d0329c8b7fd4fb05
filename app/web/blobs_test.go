package web

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/blobs"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// While blobs cannot be read pages say so, and that it is worth trying again; one that was
// changed where it lies is never shown.
func TestPagesWithoutBlobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	folder := filepath.Join(filepath.Dir(w.db.Path()), "blobs")
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(folder), "blobs", "in the way")
	for _, page := range []string{"/runs/open", "/runs/open/files/report.json"} {
		if status, text := w.browser().get(page); status != http.StatusServiceUnavailable || !strings.Contains(text, "cannot be read now") {
			t.Errorf("%s: %d\n%s", page, status, text)
		}
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	if status, _ := w.browser().get("/runs/open/files/report.json"); status != http.StatusOK {
		t.Errorf("when it is back: %d", status)
	}
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		data[len(data)-6] ^= 1 // of gzip's checksum
		return os.WriteFile(name, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.withoutBlobs("changed")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	w.withoutBlobs("lost")
}

// withoutBlobs looks for what pages show of a run whose blobs do not come back: what the database has, and what is missing.
func (w *world) withoutBlobs(what string) {
	w.t.Helper()
	w.reported(store.Run{ID: what, RepoID: 2, Number: 41, Verdict: "PASS", Created: w.clock()}, report.Report{})
	for page, want := range map[string][]string{
		"/runs/open":                   {http.StatusText(http.StatusOK), "FAIL", "a negative number of tickets is refused", "report.json cannot be read any more"},
		"/runs/open/files/":            {http.StatusText(http.StatusOK), "report.json", "events.jsonl"},
		"/repos/2/pulls/41":            {http.StatusText(http.StatusOK), "Its report cannot be read any more", "/runs/open", "/runs/" + what},
		"/runs/open/files/report.json": {http.StatusText(http.StatusGone), "is lost, or damaged"},
	} {
		status, text := w.browser().get(page)
		for _, part := range want {
			if !strings.Contains(http.StatusText(status)+text, part) {
				w.t.Errorf("%s, %s: %d without %q\n%s", page, what, status, part, text)
			}
		}
	}
	if got := names(w.browser().listen("/runs/open/events", "", func(m message) bool { return m.event == "end" })); got["put"] == 0 || got["end"] != 1 {
		w.t.Errorf("%s: the stream has %v", what, got)
	}
}

// What is lost is said once, however often a page is made; an output that is lost says so in its place.
func TestLostIsSaidOnce(t *testing.T) {
	t.Parallel()
	logged := 0
	p := &runPage{lost: func(string, error) { logged++ }}
	lost := fmt.Errorf("report.json: %w", blobs.ErrNotFound)
	for range 2 {
		if err := errors.Join(p.without("report.json", lost), p.without("events.jsonl", blobs.ErrCorrupt), p.without("report.json", nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.without("report.json", store.ErrBlobsAway); !errors.Is(err, store.ErrBlobsAway) || len(p.Lost) != 2 || logged != 2 {
		t.Errorf("%v; lost %q, logged %d times", err, p.Lost, logged)
	}
	if got := p.shown(store.Tail{Name: "spill/E1.stdout", Size: 9, Lost: true}, 100); !got.Lost || got.Name != "spill/E1.stdout" || len(got.Lines) != 0 {
		t.Errorf("%+v", got)
	}
}
