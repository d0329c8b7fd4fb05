package backtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// MaxLine is how many bytes a line of results.jsonl may have, its newline included.
const MaxLine = 400

// resultsFile is the name of the results in the folder of a backtest.
const resultsFile = "results.jsonl"

// A Line is what came of one case. It has a verdict, or says why there is none.
type Line struct {
	Case     string   `json:"case"`
	Repo     string   `json:"repo"`
	Change   string   `json:"change"` // the commit that the case is made of, 12 digits, as the others
	Base     string   `json:"base,omitempty"`
	Head     string   `json:"head,omitempty"`
	Arm      Arm      `json:"arm"`
	Operator string   `json:"op,omitempty"`
	Excluded string   `json:"excluded,omitempty"` // why there is no case
	Verdict  string   `json:"verdict,omitempty"`
	Seconds  float64  `json:"s,omitempty"`         // of the run
	CPU      float64  `json:"cpu,omitempty"`       // processor seconds of it; 0: not measured
	Plain    float64  `json:"plain_s,omitempty"`   // of setup, build and tests of the good head, once
	PlainCPU float64  `json:"plain_cpu,omitempty"` // processor seconds of that; 0: not measured
	Part     bool     `json:"part,omitempty"`      // the plain suite is only what the change can affect
	First    bool     `json:"first,omitempty"`     // it is the first verdict: no probe was asked for
	Digest   string   `json:"digest,omitempty"`    // the first 16 digits of the sha256 of report.json
	Ycbot    string   `json:"ycbot"`
	Tests    []string `json:"tests,omitempty"`   // deciding tests: pass on the good head, fail on the bad one
	Names    []string `json:"names,omitempty"`   // tests that the verdict names
	Reasons  []string `json:"reasons,omitempty"` // of the report
	// Given counts the expectations that no longer hold, by class as in report.json, and
	// Named says that each deciding test is among them.
	Given map[string]int `json:"given,omitempty"`
	Named bool           `json:"named,omitempty"`
	// Outside is the verdict of a good change as it would be had it come from outside, by the
	// same results, and OutsideFor what makes it worse, as run.Outside has it. Lines of older
	// programs have neither.
	Outside    string   `json:"outside,omitempty"`
	OutsideFor []string `json:"outside_for,omitempty"`
	// Shown counts the functions and command lines that the report says do something else
	// and no test expects to, and Folded those that tests which fail without the change reach.
	// Shown is nil where they were not compared: of a first verdict, and of older programs.
	Shown  *int `json:"shown,omitempty"`
	Folded int  `json:"folded,omitempty"`
}

// encode is the line as it is stored. Lists are cut, the classes
// left out, and then texts cut, the longest first, until it fits; "…" stands for what is
// missing.
func (l Line) encode() ([]byte, error) {
	l.Tests, l.Names, l.Reasons = clip(l.Tests), clip(l.Names), clip(l.Reasons)
	texts := []*string{&l.Excluded, &l.Operator, &l.Ycbot, &l.Repo} // what names the case is never cut
	for {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(l); err != nil {
			return nil, err
		}
		if buf.Len() <= MaxLine {
			return buf.Bytes(), nil
		}
		if l.shortenLists() {
			continue
		}
		if l.Given != nil {
			l.Given = nil
			continue
		}
		longest := texts[0]
		for _, t := range texts {
			if len(*t) > len(*longest) {
				longest = t
			}
		}
		if len(*longest) <= len("…") {
			return nil, fmt.Errorf("the result of %s does not fit into %d bytes", l.Case, MaxLine)
		}
		*longest = cut(*longest, len(*longest)/2)
	}
}

// shortenLists takes something of a list away: of each a little rather than one whole, and
// of the deciding tests last. It returns false where there is nothing to take.
func (l *Line) shortenLists() bool {
	longer := &l.Names
	if bytesOf(l.Reasons) >= bytesOf(l.Names) {
		longer = &l.Reasons
	}
	switch {
	case bytesOf(*longer) > shortest:
		return shorten(longer)
	case bytesOf(l.Tests) > 2*shortest:
		return shorten(&l.Tests)
	}
	return shorten(&l.Names) || shorten(&l.Reasons) || shorten(&l.Tests)
}

// bytesOf is how much of a line a list takes, roughly.
func bytesOf(list []string) int { return len(strings.Join(list, `","`)) }

// clip copies a list with its elements cut to what a table can show.
func clip(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, cut(strings.ToValidUTF8(s, "?"), 120))
	}
	return out
}

// shortest is how many bytes say something yet.
const shortest = 24

// shorten takes the last element of a list away, or half of its only one; false where
// there is nothing to take.
func shorten(list *[]string) bool {
	n := len(*list)
	switch {
	case n == 0:
		return false
	case n > 2:
		*list = append((*list)[:n-2:n-2], "…")
	case n == 2:
		*list = (*list)[:1]
	case len((*list)[0]) > shortest:
		*list = []string{cut((*list)[0], len((*list)[0])*3/4)}
	default:
		*list = nil
	}
	return true
}

// cut shortens a text to n bytes, "…" included, between two characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(0, n-len("…"))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// ReadResults reads the lines of a results file. What a killed process left of its last
// line is not read. A file that is not there has none.
func ReadResults(name string) ([]Line, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Line
	for n, text := range bytes.SplitAfter(data, []byte("\n")) {
		if !bytes.HasSuffix(text, []byte("\n")) {
			break
		}
		var l Line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n+1, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// A ledger appends lines to a results file.
type ledger struct {
	mu   sync.Mutex
	file *os.File
	done map[string]Line
}

// openLedger opens the results in the folder dir for appending. A torn last line is
// taken away first. Of earlier, lines of cases that it does not have are added.
func openLedger(dir string, earlier []Line) (*ledger, error) {
	name := filepath.Join(dir, resultsFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	// The lock goes with the process, however it ends.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another backtest is writing to %s: wait for it, or name another folder with --out", name), f.Close())
	}
	l := &ledger{file: f, done: map[string]Line{}}
	if err := l.repair(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	have, err := ReadResults(name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for _, line := range have {
		l.done[line.Case] = line
	}
	for _, line := range earlier {
		if _, ok := l.done[line.Case]; ok {
			continue
		}
		if err := l.add(line); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return l, nil
}

// repair takes a torn last line away and goes to the end.
func (l *ledger) repair() error {
	data, err := os.ReadFile(l.file.Name())
	if err != nil {
		return err
	}
	whole := int64(bytes.LastIndexByte(data, '\n') + 1)
	if err := l.file.Truncate(whole); err != nil {
		return err
	}
	_, err = l.file.Seek(whole, 0)
	return err
}

// add appends one line, which is on disk when add returns.
func (l *ledger) add(line Line) error {
	data, err := line.encode()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(data); err != nil {
		return fmt.Errorf("append to %s: %w", l.file.Name(), err)
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.done[line.Case] = line
	return nil
}

// has says whether a case has its line.
func (l *ledger) has(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.done[id]
	return ok
}

// close gives the lock up and closes the results. Closing alone would not do while a process
// that is being forked has a copy of the file.
func (l *ledger) close() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
