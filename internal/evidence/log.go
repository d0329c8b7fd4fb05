package evidence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Options are what a Log needs from outside.
type Options struct {
	Redact func([]byte) []byte // takes secrets out of outputs and commands; nil: nothing is taken out
	Now    func() time.Time    // when something was refused; required
}

// A Log is the evidence of one run, open for writing.
type Log struct {
	dir  string
	o    Options
	mu   sync.Mutex
	file *os.File
	err  error // why nothing more can be written
	size int64 // of the complete records in file
	prev string
	recs []Record
}

// Open opens the log of a run in dir, which is made if it is not there. A log
// of the same run is continued: a last line that was cut off by a crash is
// removed, since no one was shown it; a broken chain is an error.
func Open(dir, runID string, o Options) (*Log, error) {
	if o.Now == nil {
		return nil, errors.New("evidence: Now is required")
	}
	if o.Redact == nil {
		o.Redact = func(b []byte) []byte { return b }
	}
	if err := os.MkdirAll(filepath.Join(dir, spillDir), 0o700); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	name := filepath.Join(dir, logName)
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	records, torn, err := parseAll(data, origin(runID))
	if err != nil {
		return nil, fmt.Errorf("evidence %s: %w", name, err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	l := &Log{dir: dir, o: o, file: file, size: int64(len(data) - len(torn)), prev: origin(runID), recs: records}
	if len(records) > 0 {
		l.prev = records[len(records)-1].Hash
	}
	if len(torn) > 0 {
		if err := file.Truncate(l.size); err != nil {
			file.Close()
			return nil, fmt.Errorf("evidence: cut torn record: %w", err)
		}
	}
	return l, nil
}

// Close closes the files; what was recorded stays readable.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.err, errClosed) {
		return nil
	}
	l.err = errClosed
	return l.file.Close()
}

// An Execution is a command with the circumstances that its record keeps.
type Execution struct {
	Agent   string
	Task    string
	Command string          // shell text for people, recorded in the place of the arguments; may be empty
	Root    string          // absolute path of the worktree
	Cwd     string          // relative to Root; empty: Root itself
	Tree    string          // oid of the tree that is checked out in Root
	Roots   Roots           // folders that Command may name, by what they are; may be empty
	Run     sandbox.Command // Dir is set from Root and Cwd
	// Script is what bash is given in the place of Command; empty: Command itself.
	Script string
	// Beside are the processes that are held while it runs.
	Beside []Beside
	// Results, where it is not nil, is given what came of it and returns what it says of
	// single tests.
	Results func(sandbox.Result) []byte
	// After, where it is not nil, is closed when what comes before in the log is
	// recorded: what runs side by side has its order all the same.
	After <-chan struct{}
	held  *Held // see [Log.Hold]
	// Hosts, where it is not nil, is called once the command has ended, and returns the
	// hosts that it asked for.
	Hosts func() []Host
}

// Run executes x in sb and records it. The record is on disk when Run returns,
// also when ctx was cancelled, in which case the error is the cause of that.
// An execution that could not be started is an error without a record. The
// Result is the sandbox's, with its outputs redacted as they were recorded.
// x.Run.Stdout, such as a parser of results, is given the output as it comes, before it is
// redacted.
func (l *Log) Run(ctx context.Context, sb sandbox.Sandbox, x Execution) (Record, sandbox.Result, error) {
	r, err := l.describe(x)
	if err != nil {
		return Record{}, sandbox.Result{Exit: -1}, err
	}
	if err := l.usable(); err != nil {
		return Record{}, sandbox.Result{Exit: -1}, err
	}
	x.Run.Dir = filepath.Join(x.Root, filepath.FromSlash(r.Cwd))
	x.Run.Recorded = r.Command
	res, runErr := sb.Run(ctx, x.Run)
	if runErr != nil && res.Exit < 0 && ctx.Err() == nil {
		return Record{}, res, fmt.Errorf("execute %s: %w", r.name(), runErr)
	}
	if x.Hosts != nil {
		for _, h := range x.Hosts() {
			h.Name, h.Refused = string(l.o.Redact([]byte(h.Name))), string(l.o.Redact([]byte(h.Refused)))
			r.Hosts = append(r.Hosts, h)
		}
	}
	res.Stdout.Bytes = l.o.Redact(res.Stdout.Bytes)
	res.Stderr.Bytes = l.o.Redact(res.Stderr.Bytes)
	if x.After != nil {
		select {
		case <-x.After:
		case <-ctx.Done():
		}
	}
	if x.held != nil {
		r.Inputs = l.inputs(x.held.Inputs())
	}
	r.Sandbox = string(sb.Status().Tier)
	r.Started, r.DurationMS = res.Started.UTC(), res.Duration.Milliseconds()
	if res.Started.IsZero() {
		r.Started = l.o.Now().UTC()
	}
	r.Exit, r.Signal, r.TimedOut, r.Limit = res.Exit, res.Signal, res.TimedOut, res.Limit
	r.Executed = res.Exit >= 0
	var results []byte
	if x.Results != nil {
		if results = redact.InJSON(l.o.Redact, x.Results(res)); results != nil {
			r.Results = &Output{}
		}
	}
	r, err = l.append(r, res.Stdout.Bytes, res.Stderr.Bytes, results)
	if err != nil {
		return Record{}, res, errors.Join(err, runErr)
	}
	return r, res, runErr
}

// Refuse records that x was not executed, and why.
func (l *Log) Refuse(x Execution, d Denial) (Record, error) {
	r, err := l.describe(x)
	if err != nil {
		return Record{}, err
	}
	r.Started, r.Exit = l.o.Now().UTC(), -1
	r.Denied = &Denial{Code: d.Code, Rule: string(l.o.Redact([]byte(d.Rule)))}
	return l.append(r, nil, nil, nil)
}

// Records returns all records, oldest first.
func (l *Log) Records() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Record, len(l.recs))
	for i, r := range l.recs {
		out[i] = r.clone()
	}
	return out
}

// Record returns the record with the given id.
func (l *Log) Record(id string) (Record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.recs {
		if r.ID == id {
			return r.clone(), true
		}
	}
	return Record{}, false
}

// Output returns what is recorded of one stream of a record of this log.
func (l *Log) Output(out Output) ([]byte, error) {
	return ReadOutput(l.dir, out)
}

// describe fills in what is known before the execution.
func (l *Log) describe(x Execution) (Record, error) {
	r := Record{Agent: x.Agent, Task: x.Task, Tree: x.Tree, Held: x.held != nil, Cwd: path.Clean(filepath.ToSlash(x.Cwd))}
	if !filepath.IsAbs(x.Root) {
		return Record{}, fmt.Errorf("evidence: worktree %q: not an absolute path", x.Root)
	}
	if !filepath.IsLocal(filepath.FromSlash(r.Cwd)) {
		return Record{}, fmt.Errorf("evidence: directory %q: outside the worktree", x.Cwd)
	}
	if x.Command != "" {
		r.Command, r.Script = string(l.o.Redact([]byte(x.Command))), string(l.o.Redact([]byte(x.Script)))
		text := r.Command + r.Script
		for _, b := range x.Beside {
			b.Command, b.Inputs = string(l.o.Redact([]byte(b.Command))), l.inputs(b.Inputs)
			r.Beside = append(r.Beside, b)
			text += "\n" + b.Command
			for _, in := range b.Inputs {
				text += "\n" + in.Text
			}
		}
		r.Roots = x.Roots.named(text)
		return r, nil
	}
	for _, arg := range x.Run.Argv {
		r.Argv = append(r.Argv, string(l.o.Redact([]byte(arg))))
	}
	return r, nil
}

// inputs are what is recorded of inputs.
func (l *Log) inputs(all []Input) []Input {
	var out []Input
	for _, in := range all {
		out = append(out, Input{Text: string(l.o.Redact([]byte(in.Text))), Await: string(l.o.Redact([]byte(in.Await)))})
	}
	return out
}

// name is what an error calls an execution.
func (r *Record) name() string {
	if r.Command != "" {
		return strconv.Quote(r.Command)
	}
	return fmt.Sprintf("%q", r.Argv)
}

func (l *Log) usable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// append gives r its id and its place in the chain and writes it: first what it
// refers to, then the record itself.
func (l *Log) append(r Record, stdout, stderr, results []byte) (Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return Record{}, fmt.Errorf("evidence: %w", l.err)
	}
	r.ID = "E" + strconv.Itoa(len(l.recs)+1)
	r.Prev = l.prev
	r.Started = r.Started.Round(0) // as it will be read again
	var spills errgroup.Group      // the disk takes two at once as fast as one
	for _, s := range []struct {
		name string
		data []byte
		to   *Output
	}{{"stdout", stdout, &r.Stdout}, {"stderr", stderr, &r.Stderr}, {"results", results, r.Results}} {
		if s.to == nil {
			continue
		}
		*s.to = Output{SHA256: sum(s.data), Bytes: int64(len(s.data))}
		if !r.Executed {
			continue
		}
		s.to.Spill = spillDir + "/" + r.ID + "." + s.name
		spills.Go(func() error { return writeFile(filepath.Join(l.dir, filepath.FromSlash(s.to.Spill)), s.data) })
	}
	if err := spills.Wait(); err != nil {
		return Record{}, fmt.Errorf("evidence %s: %w", r.ID, err)
	}
	line, err := r.line()
	if err != nil {
		return Record{}, fmt.Errorf("evidence %s: %w", r.ID, err)
	}
	if err := l.write(append(line, '\n')); err != nil {
		return Record{}, fmt.Errorf("evidence %s: %w", r.ID, err)
	}
	l.prev = r.Hash
	l.recs = append(l.recs, r)
	return r.clone(), nil
}

// write appends a whole line or nothing. A log that could not be put right
// takes no more records.
func (l *Log) write(line []byte) error {
	_, err := l.file.Write(line)
	if err == nil {
		err = l.file.Sync()
	}
	if err == nil {
		l.size += int64(len(line))
		return nil
	}
	if cutErr := l.file.Truncate(l.size); cutErr != nil {
		l.err = errors.Join(err, cutErr)
	}
	return err
}

// writeFile writes a spill file. One of the same name is of a record that was
// never completed.
func writeFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
