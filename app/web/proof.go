package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// What a page of a run has at most, in bytes as they stand in it: browsers load and search
// pages of less than a megabyte at once.
const (
	shownOutput  = 6 << 10   // of an output on the page of its run
	wholeOutput  = 128 << 10 // of an output on the page of its execution
	shownOutputs = 160 << 10 // of all outputs on the page of a run; the others are loaded when they are opened
	shownText    = 4 << 10   // of what a check saw, and of a finding's details
	shownCommand = 2 << 10   // of a command
	shownProofs  = 250       // executions
)

// A proof is one execution, and the end of what it wrote.
type proof struct {
	evidence.Record
	Out, Err text
	URL      string // of its own page
	Lazy     bool   // its command and outputs are not here as a whole
}

// Failed reports whether it ended badly.
func (e *proof) Failed() bool { return e.Executed && (e.TimedOut || e.Exit != 0) }

// Line is the command as someone would write it.
func (e *proof) Line() string {
	if e.Command != "" {
		return e.Command
	}
	return strings.Join(e.Argv, " ")
}

// A text is the end of an output.
type text struct {
	Lines []string
	Lost  bool  // it cannot be read any more
	Cut   int64 // bytes that are before it
	Name  string
	URL   string // of all of it
}

// Title names the output among others of a page.
func (t text) Title() string { return base(t.Name) }

// readProofs reads what was executed since, with its outputs.
func (p *runPage) readProofs(ctx context.Context) (err error) {
	known := len(p.Evidence)
	p.proofsAt, err = p.each(ctx, evidenceFile, p.proofsAt, func(l store.Line) error {
		e := &proof{}
		if err := json.Unmarshal(l.Body, &e.Record); err != nil {
			return fmt.Errorf("%s at %d: %w", evidenceFile, l.Start, err)
		}
		e.URL = p.Base + "/runs/" + url.PathEscape(p.Run.ID) + "/evidence/" + url.PathEscape(e.ID)
		p.Evidence = append(p.Evidence, e)
		return nil
	})
	fresh := p.Evidence[known:]
	if err != nil || len(fresh) == 0 {
		return err
	}
	prefix := "spill/"
	if len(fresh) == 1 {
		prefix += fresh[0].ID + "."
	}
	byName, err := p.tails(ctx, prefix, shownOutput)
	if err != nil {
		return err
	}
	for _, failed := range []bool{true, false} { // those that people want to see first
		for _, e := range fresh {
			if e.Failed() == failed {
				p.fill(e, byName)
			}
		}
	}
	return nil
}

func (p *runPage) tails(ctx context.Context, prefix string, limit int) (map[string]store.Tail, error) {
	tails, err := p.db.Tails(ctx, p.Run.ID, prefix, limit)
	byName := map[string]store.Tail{}
	for _, t := range tails {
		byName[t.Name] = t
	}
	return byName, err
}

// fill gives an execution its outputs while there is room for them.
func (p *runPage) fill(e *proof, byName map[string]store.Tail) {
	out, errors := p.shown(byName[e.Stdout.Spill], shownOutput), p.shown(byName[e.Stderr.Spill], shownOutput)
	size := len(template.HTMLEscapeString(beginning(e.Line())))
	for _, line := range slices.Concat(out.Lines, errors.Lines) {
		size += len(template.HTMLEscapeString(line)) + 1
	}
	if p.outputs+size > shownOutputs {
		e.Lazy = true
		return
	}
	p.outputs += size
	e.Out, e.Err = out, errors
}

// shown makes the end of an output readable, limit bytes of it at most.
func (p *runPage) shown(t store.Tail, limit int) text {
	out := text{Name: t.Name, Cut: t.Size - int64(len(t.End)), URL: p.Base + "/runs/" + url.PathEscape(p.Run.ID) + "/files/" + (&url.URL{Path: t.Name}).EscapedPath()}
	if out.Lost = t.Lost; t.Lost {
		return out
	}
	end := t.End
	if out.Cut > 0 { // from a line on, where there is one
		if i := bytes.IndexByte(end, '\n'); i >= 0 && i < limit {
			out.Cut, end = out.Cut+int64(i)+1, end[i+1:]
		}
	}
	out.Lines = report.Output(string(end))
	return out
}

// Shown are the executions that the page lists: all, or those that failed or are cited,
// and then the first.
func (p *runPage) Shown() []*proof {
	if len(p.Evidence) <= shownProofs {
		return p.Evidence
	}
	cited := p.cited()
	first := func(e *proof) bool { return e.Failed() || cited[e.ID] }
	left := shownProofs
	keep := map[*proof]bool{}
	for _, important := range []bool{true, false} {
		for _, e := range p.Evidence {
			if left > 0 && first(e) == important {
				keep[e], left = true, left-1
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Evidence), func(e *proof) bool { return !keep[e] })
}

// Hidden is how many executions the page does not list.
func (p *runPage) Hidden() int { return max(0, len(p.Evidence)-shownProofs) }

func (p *runPage) cited() map[string]bool {
	out := map[string]bool{}
	if p.Report == nil {
		return out
	}
	for _, c := range p.Report.Checks {
		for _, id := range c.Evidence {
			out[id] = true
		}
	}
	for _, f := range p.Report.Findings {
		for _, id := range f.Evidence {
			out[id] = true
		}
	}
	return out
}

// A proofPage is the page of one execution.
type proofPage struct {
	Run   store.Run
	Proof *proof
}

// evidence is the page of one execution. A part of it is what the page of the run loads.
func (s *Site) evidence(w http.ResponseWriter, r *http.Request, v *viewer, run store.Run) error {
	p, id := &runPage{Base: s.base, Run: run, db: s.DB}, r.PathValue("evidence")
	var found *proof
	_, err := p.each(r.Context(), evidenceFile, 0, func(l store.Line) error {
		e := &proof{}
		if err := json.Unmarshal(l.Body, &e.Record); err != nil {
			return fmt.Errorf("%s at %d: %w", evidenceFile, l.Start, err)
		}
		if e.ID == id {
			found = e
		}
		return nil
	})
	if err != nil {
		return err
	}
	if found == nil || id == "" {
		return errNotFound
	}
	byName, err := p.tails(r.Context(), "spill/"+id+".", wholeOutput)
	if err != nil {
		return err
	}
	found.Out, found.Err = p.shown(byName[found.Stdout.Spill], wholeOutput), p.shown(byName[found.Stderr.Spill], wholeOutput)
	if !r.URL.Query().Has("part") {
		return s.render(w, r, v, http.StatusOK, "evidence.html", id+" · "+run.Repo, proofPage{run, found})
	}
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, "outputs", found); err != nil {
		return fmt.Errorf("part outputs: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the client may be gone
	return nil
}

// ending is the end of what may be long, from a line on where there is one, and how much
// is before it.
func ending(s string) string {
	all := strings.Join(report.Command(s), "\n")
	if len(template.HTMLEscapeString(all)) <= shownText {
		return all
	}
	at, size := len(all), 0
	for at > 0 {
		r, n := utf8.DecodeLastRuneInString(all[:at])
		if size += len(template.HTMLEscapeString(string(r))); size > shownText {
			break
		}
		at -= n
	}
	if i := strings.IndexByte(all[at:], '\n'); i >= 0 && i < len(all[at:])-1 {
		at += i + 1
	}
	return "… " + size64(at) + " before this\n" + all[at:]
}

func size64(n int) string { return size(int64(n)) }

// beginning is the beginning of what may be long.
func beginning(s string) string {
	all, size := strings.Join(report.Command(s), "\n"), 0
	for at, r := range all {
		if size += len(template.HTMLEscapeString(string(r))); size > shownCommand {
			return all[:at] + "\n… " + size64(len(all)-at) + " after this"
		}
	}
	return all
}
