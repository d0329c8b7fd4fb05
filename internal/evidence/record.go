// Package evidence is the log of what really ran: one line for each command
// that was executed or refused, written by the program and by nothing else.
//
// The log lives in two places of a run's directory: evidence.jsonl holds one
// [Record] a line, and spill/E12.stdout and spill/E12.stderr hold what execution
// E12 wrote, as far as the sandbox kept it. Everything is redacted before it is
// hashed and stored, so what is published is what was hashed.
//
// Each record carries the hash of the one before it, the first one that of the
// run's id. Someone who changes a byte of the log or of a spill file breaks the
// chain, and [Verify] names the record. Whole records taken off the end leave a
// valid, shorter chain: that is noticed only by someone who knows the number of
// records or the last hash, which is why the digest of the run directory is
// published elsewhere.
//
// Ids count up in the order in which executions ended. A Log is safe for
// concurrent use by one program; two programs must not write one log.
package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	logName  = "evidence.jsonl"
	spillDir = "spill"
)

// A Record is one line of the log. The names of its fields are stored: do not
// change them.
type Record struct {
	ID         string    `json:"id"` // "E1", "E2", …
	Agent      string    `json:"agent"`
	Task       string    `json:"task"`
	Argv       []string  `json:"argv,omitempty"`    // what was executed; or
	Command    string    `json:"command,omitempty"` // the shell text of it, where there is one
	Script     string    `json:"script,omitempty"`  // what bash was given in the place of Command, to have it say more
	Cwd        string    `json:"cwd"`               // relative to the worktree, "." for itself
	Tree       string    `json:"tree"`              // oid of the tree that was checked out
	Started    time.Time `json:"started"`
	DurationMS int64     `json:"duration_ms"`
	Exit       int       `json:"exit"` // -1: not executed
	Signal     string    `json:"signal"`
	TimedOut   bool      `json:"timed_out"`
	Limit      string    `json:"limit,omitempty"` // the limit of the sandbox for which it was ended, such as "memory"
	Executed   bool      `json:"executed"`
	Denied     *Denial   `json:"denied"` // why not executed, when it was refused
	Stdout     Output    `json:"stdout"`
	Stderr     Output    `json:"stderr"`
	Sandbox    string    `json:"sandbox"`           // tier
	Hosts      []Host    `json:"hosts,omitempty"`   // that it asked the harness's proxy for, in the order in which it did
	Results    *Output   `json:"results,omitempty"` // what the harness read out of its output, test by test
	Beside     []Beside  `json:"beside,omitempty"`  // processes that were held while it ran
	Held       bool      `json:"held,omitempty"`    // it was such a process: it went on until it was stopped
	Inputs     []Input   `json:"inputs,omitempty"`  // what was written to the standard input of a held one
	Roots      *Roots    `json:"roots,omitempty"`   // folders that Command and Beside name; nil: they name none
	Prev       string    `json:"prev"`
	Hash       string    `json:"-"` // always last in the line; written and read by hand
}

// A Denial says by which rule a command was refused.
type Denial struct {
	Code string `json:"code"`
	Rule string `json:"rule"`
}

// A Host is one that a command asked for whose only network was the harness's proxy.
type Host struct {
	Name        string `json:"host"` // with its port, as it was asked for, redacted
	Connections int    `json:"connections"`
	Up          int64  `json:"up"`                // bytes that were sent there
	Down        int64  `json:"down"`              // bytes that came back
	Refused     string `json:"refused,omitempty"` // why it was not led to; empty: it was reached
}

// Beside is a process that is held while commands run, such as a server.
type Beside struct {
	Command string  `json:"command"`
	Port    int     `json:"port"`                // its variable PORT
	Await   int     `json:"await,omitempty"`     // the port on which it listens when it is ready; 0: not known
	Text    string  `json:"wait_text,omitempty"` // what it has written by then; empty: not known
	Inputs  []Input `json:"inputs,omitempty"`    // what was written to its standard input so far
}

// An Input is a text that was written to the standard input of a held process.
type Input struct {
	Text  string `json:"text"`
	Await string `json:"wait_text,omitempty"` // what the process wrote then; empty: not known
}

// An Output is what a command wrote to one stream, redacted.
type Output struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"` // size of the spill file
	Spill  string `json:"spill"` // relative to the run directory; empty: never executed
}

const hashField = `,"hash":"`

// line is the record as it is stored, with its hash, without the line's end.
func (r *Record) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	r.Hash = chain(r.Prev, body)
	return append(body, hashField+r.Hash+`"}`...), nil
}

func chain(prev string, body []byte) string {
	return sum(slices.Concat([]byte(prev+"\n"), body))
}

// origin is the prev of the first record of a run.
func origin(runID string) string { return sum([]byte(runID)) }

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// parse reads one line; n is its number from 1. An empty prev is any.
func parse(line []byte, n int, prev string) (Record, error) {
	bad := func(why string) (Record, error) {
		return Record{}, fmt.Errorf("record E%d: %s", n, why)
	}
	at := len(line) - len(hashField) - sha256.Size*2 - len(`"}`)
	if at < 0 || string(line[at:at+len(hashField)]) != hashField || !bytes.HasSuffix(line, []byte(`"}`)) {
		return bad("no hash at its end")
	}
	hash := string(line[at+len(hashField) : len(line)-len(`"}`)])
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return bad(err.Error())
	}
	r.Hash = hash
	switch {
	case chain(r.Prev, line[:at]) != hash:
		return bad("its hash does not match its text")
	case prev != "" && r.Prev != prev:
		return bad("does not follow the record before it")
	case r.ID != "E"+strconv.Itoa(n):
		return bad("has the id " + strconv.Quote(r.ID))
	}
	return r, nil
}

// parseAll reads a log whose first record follows prev, which is any when
// empty. torn is the part after the last line's end.
func parseAll(data []byte, prev string) (records []Record, torn []byte, err error) {
	for len(data) > 0 {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return records, data, nil
		}
		r, err := parse(line, len(records)+1, prev)
		if err != nil {
			return records, nil, err
		}
		records = append(records, r)
		prev, data = r.Hash, rest
	}
	return records, nil, nil
}

// Read returns the records of the log in dir. It checks every hash but that of
// the run's id and those of the spill files, which [Verify] does, and leaves out
// a last line that a crash cut off.
func Read(dir string) ([]Record, error) {
	records, _, err := read(dir, "")
	return records, err
}

func read(dir, prev string) (records []Record, torn []byte, err error) {
	name := filepath.Join(dir, logName)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("evidence: %w", err)
	}
	records, torn, err = parseAll(data, prev)
	if err != nil {
		return nil, nil, fmt.Errorf("evidence %s: %w", name, err)
	}
	return records, torn, nil
}

// Verify checks the whole log of a run, spill files included, and returns how
// many records it has. The error names the first record that is not what was
// written. Records taken off the end are not noticed: compare n, or the last
// hash, with what is known from elsewhere.
func Verify(dir, runID string) (n int, err error) {
	records, err := ReadVerified(dir, runID)
	return len(records), err
}

// ReadVerified returns the records of a run's log after it was checked as [Verify] does.
func ReadVerified(dir, runID string) ([]Record, error) {
	records, torn, err := read(dir, origin(runID))
	if err != nil {
		return nil, err
	}
	if len(torn) > 0 {
		return nil, fmt.Errorf("evidence %s: record E%d: cut off", filepath.Join(dir, logName), len(records)+1)
	}
	for _, r := range records {
		outputs := []Output{r.Stdout, r.Stderr}
		if r.Results != nil {
			outputs = append(outputs, *r.Results)
		}
		for _, out := range outputs {
			if out.Spill == "" && !r.Executed {
				continue
			}
			if _, err := ReadOutput(dir, out); err != nil {
				return nil, fmt.Errorf("evidence %s: record %s: %w", filepath.Join(dir, logName), r.ID, err)
			}
		}
	}
	return records, nil
}

// ReadOutput returns the content of a spill file after it was checked.
func ReadOutput(dir string, out Output) ([]byte, error) {
	if out.Spill == "" {
		return nil, nil
	}
	// The name comes from a file, so it must not lead out of the directory.
	parts := strings.Split(out.Spill, "/")
	if len(parts) != 2 || parts[0] != spillDir || !filepath.IsLocal(parts[1]) {
		return nil, fmt.Errorf("spill %q: not a spill file", out.Spill)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(out.Spill)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != out.Bytes {
		return nil, fmt.Errorf("spill %s: %d bytes, recorded %d", out.Spill, info.Size(), out.Bytes)
	}
	data, err := root.ReadFile(out.Spill)
	if err != nil {
		return nil, err
	}
	if sum(data) != out.SHA256 {
		return nil, fmt.Errorf("spill %s: its hash is not the recorded one", out.Spill)
	}
	return data, nil
}

// Outputs returns what the command of a record wrote to its two streams. dir is the
// run directory.
func Outputs(dir string, r Record) (stdout, stderr []byte, err error) {
	if stdout, err = ReadOutput(dir, r.Stdout); err != nil {
		return nil, nil, err
	}
	stderr, err = ReadOutput(dir, r.Stderr)
	return stdout, stderr, err
}

// Shown returns what people and agents see of a record's outputs: the two streams, with
// what the harness read out of them behind the first.
func Shown(dir string, r Record) (stdout, stderr []byte, err error) {
	stdout, stderr, err = Outputs(dir, r)
	if err != nil || r.Results == nil {
		return stdout, stderr, err
	}
	results, err := ReadOutput(dir, *r.Results)
	return slices.Concat(stdout, []byte("\n"), results), stderr, err
}

// clone keeps callers from changing what the log holds.
func (r Record) clone() Record {
	r.Argv, r.Hosts = slices.Clone(r.Argv), slices.Clone(r.Hosts)
	if r.Denied != nil {
		d := *r.Denied
		r.Denied = &d
	}
	if r.Roots != nil {
		roots := *r.Roots
		r.Roots = &roots
	}
	if r.Results != nil {
		results := *r.Results
		r.Results = &results
	}
	r.Beside, r.Inputs = slices.Clone(r.Beside), slices.Clone(r.Inputs)
	for i, b := range r.Beside {
		r.Beside[i].Inputs = slices.Clone(b.Inputs)
	}
	return r
}

var errClosed = errors.New("log is closed")
