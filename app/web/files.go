package web

import (
	"errors"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/store"
)

// logs are the files of a run that are stored by line.
func logs() []string { return []string{eventsFile, evidenceFile, "journal.jsonl", "model.jsonl"} }

// file gives a file of a run, or lists them.
func (s *Site) file(w http.ResponseWriter, r *http.Request, v *viewer, run store.Run) error {
	name := r.PathValue("name")
	if name == "" {
		return s.files(w, r, v, run)
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if !readable(name) {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	}
	if slices.Contains(logs(), name) {
		return s.log(w, r, run, name)
	}
	body, err := s.DB.File(r.Context(), run.ID, name)
	if errors.Is(err, store.ErrNotFound) {
		h.Set("Content-Security-Policy", policy)
		h.Del("Content-Disposition")
		return errNotFound
	}
	if err != nil {
		return err
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client may be gone
	return nil
}

// readable reports whether a file is text for people. The answer's headers say so, or have it saved.
func readable(name string) bool {
	switch path.Ext(name) {
	case ".json", ".jsonl", ".md", ".xml", ".sarif", ".stdout", ".stderr", ".txt":
		return true
	}
	return name == "SHA256SUMS"
}

// log gives a file that is stored by line.
func (s *Site) log(w http.ResponseWriter, r *http.Request, run store.Run, name string) error {
	p := &runPage{Run: run, db: s.DB}
	begun := false
	end, err := p.each(r.Context(), name, 0, func(l store.Line) error {
		begun = true
		_, err := w.Write(append(l.Body, '\n'))
		return err
	})
	switch {
	case err != nil && begun: // a part must not look like the whole
		panic(http.ErrAbortHandler)
	case err == nil && end == 0:
		return errNotFound
	}
	return err
}

// A filesPage lists the files of a run.
type filesPage struct {
	Run   store.Run
	Files []store.FileInfo
	Logs  []string
}

func (s *Site) files(w http.ResponseWriter, r *http.Request, v *viewer, run store.Run) error {
	p := filesPage{Run: run}
	var err error
	if p.Files, err = s.DB.Files(r.Context(), run.ID); err != nil {
		return err
	}
	for _, name := range logs() {
		lines, err := s.DB.Lines(r.Context(), run.ID, name, 0, 1)
		if err != nil {
			return err
		}
		if len(lines) > 0 {
			p.Logs = append(p.Logs, name)
		}
	}
	sorted.By(p.Files, func(a, b store.FileInfo) int { // those at the top first
		if d := strings.Count(a.Name, "/") - strings.Count(b.Name, "/"); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return s.render(w, r, v, http.StatusOK, "files.html", "Files · "+run.Repo, p)
}
