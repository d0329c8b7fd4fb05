package web

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

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
	body, size, err := s.DB.OpenFile(r.Context(), run.ID, name)
	if errors.Is(err, store.ErrNotFound) {
		h.Set("Content-Security-Policy", policy)
		h.Del("Content-Disposition")
		return errNotFound
	}
	if err != nil {
		return err
	}
	defer body.Close()
	begin := bufio.NewReaderSize(body, 64<<10)
	if _, err := begin.Peek(begin.Size()); err != nil && !errors.Is(err, io.EOF) { // so that it can be answered
		return err
	}
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	if _, err := io.Copy(struct{ io.Writer }{s.patient(w)}, struct{ io.Reader }{begin}); err != nil { // in parts
		panic(http.ErrAbortHandler) // a part must not look like the whole
	}
	return nil
}

// leastRate is how many bytes in a second a client of large files takes at least.
const leastRate = 16 << 10

// A patient writer gives a client as long as what it gets is large.
type patient struct {
	http.ResponseWriter
	ctl   *http.ResponseController
	begun time.Time
	sent  int64
}

func (s *Site) patient(w http.ResponseWriter) *patient {
	return &patient{ResponseWriter: w, ctl: http.NewResponseController(w), begun: s.Now()}
}

// Write implements [http.ResponseWriter].
func (p *patient) Write(b []byte) (int, error) {
	p.sent += int64(len(b))
	until := p.begun.Add(writeTime + time.Duration(p.sent/leastRate)*time.Second)
	if err := p.ctl.SetWriteDeadline(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
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
	p, to := &runPage{Run: run, db: s.DB}, s.patient(w)
	begun := false
	end, err := p.each(r.Context(), name, 0, func(l store.Line) error {
		begun = true
		_, err := to.Write(append(l.Body, '\n'))
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
		lost := store.IsLost(err)
		if err != nil && !lost {
			return err
		}
		if lost || len(lines) > 0 {
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
