package evidence_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/sandbox"
)

const runID = "run-1"

// TestMain lets the test binary be the program that TestKilled kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("EVIDENCE_WRITE_TO"); dir != "" {
		writeForever(dir)
	}
	os.Exit(m.Run())
}

// scripted is a sandbox that runs nothing: for what the log does with results.
type scripted func(sandbox.Command) (sandbox.Result, error)

func (s scripted) Run(_ context.Context, c sandbox.Command) (sandbox.Result, error) { return s(c) }
func (scripted) Status() sandbox.Status                                             { return sandbox.Status{Tier: sandbox.TierBasic} }

func printing(stdout, stderr string) scripted {
	out := func(s string) sandbox.Output { return sandbox.Output{Bytes: []byte(s), Total: int64(len(s))} }
	return func(sandbox.Command) (sandbox.Result, error) {
		return sandbox.Result{Started: clock(), Duration: 1500 * time.Microsecond, Stdout: out(stdout), Stderr: out(stderr)}, nil
	}
}

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC) }

func open(t *testing.T, dir string) *evidence.Log {
	t.Helper()
	l, err := evidence.Open(dir, runID, evidence.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func shell(t *testing.T) sandbox.Sandbox {
	t.Helper()
	sb, err := sandbox.Detect(t.Context(), sandbox.Options{Mode: "none", TempDir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return sb
}

func execution(root, text string) evidence.Execution {
	return evidence.Execution{
		Agent: "gate", Task: "t1", Command: text, Root: root, Tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
		Run: sandbox.Command{Argv: []string{"sh", "-c", text}, Writable: []string{root}},
	}
}

func verify(t *testing.T, dir string) int {
	t.Helper()
	n, err := evidence.Verify(dir, runID)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A record says what ran, where, and how it ended; its outputs are in the spill
// files; the line has exactly the agreed fields, with the agreed hash at its end.
func TestRecord(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	x := execution(root, "pwd; echo oops >&2; exit 3")
	x.Cwd = "sub"
	r, res, err := l.Run(t.Context(), shell(t), x)
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != "E1" || r.Exit != 3 || !r.Executed || r.Cwd != "sub" || r.Sandbox != "none" || r.Tree != x.Tree || res.Exit != 3 {
		t.Errorf("got %+v", r)
	}
	x.Command, x.Cwd = "", ""
	if r, _, err = l.Run(t.Context(), shell(t), x); err != nil || r.Cwd != "." || !slices.Equal(r.Argv, x.Run.Argv) {
		t.Errorf("got %+v, %v", r, err)
	}
	out, err := l.Output(l.Records()[0].Stdout)
	if want := filepath.Join(root, "sub") + "\n"; err != nil || string(out) != want {
		t.Errorf("standard output %q, %v; want %q", out, err, want)
	}
	if n := verify(t, dir); n != 2 {
		t.Errorf("%d records, want 2", n)
	}

	data, err := os.ReadFile(filepath.Join(dir, "evidence.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s := sha256.Sum256([]byte(runID))
	prev := hex.EncodeToString(s[:])
	fields := [][]string{
		{"id", "agent", "task", "command", "cwd", "tree", "started", "duration_ms", "exit", "signal", "timed_out", "executed", "denied", "stdout", "stderr", "sandbox", "prev", "hash"},
		{"id", "agent", "task", "argv", "cwd", "tree", "started", "duration_ms", "exit", "signal", "timed_out", "executed", "denied", "stdout", "stderr", "sandbox", "prev", "hash"},
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		body, hash, _ := strings.Cut(line, `,"hash"`)
		s := sha256.Sum256([]byte(prev + "\n" + body))
		prev = hex.EncodeToString(s[:])
		if hash != `:"`+prev+`"}` {
			t.Errorf("line %d ends with %s, want %s", i+1, hash, prev)
		}
		if diff := cmp.Diff(fields[i], keys(t, line)); diff != "" {
			t.Errorf("line %d: fields:\n%s", i+1, diff)
		}
	}
}

// keys are the names of an object's fields, in their order.
func keys(t *testing.T, object string) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(object))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, name.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A refusal is evidence, too: not executed, with the rule, and no spill files.
func TestRefuse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir)
	r, err := l.Refuse(execution("/w", "git push"), evidence.Denial{Code: "git-write", Rule: "Bash(git push:*)"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Executed || r.Exit != -1 || r.Denied == nil || r.Denied.Code != "git-write" || r.Stdout.Spill != "" {
		t.Errorf("got %+v", r)
	}
	if n := verify(t, dir); n != 1 {
		t.Errorf("%d records, want 1", n)
	}
}

// Only the owner can read the log, and no directory outside the worktree is recorded.
func TestPlaces(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	l := open(t, dir)
	if _, _, err := l.Run(t.Context(), printing("a", "b"), execution("/w", "true")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		".": 0o700, "spill": 0o700, "evidence.jsonl": 0o600, "spill/E1.stdout": 0o600, "spill/E1.stderr": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, cwd := range []string{"../x", "/etc", "a/../../b"} {
		x := execution("/w", "true")
		x.Cwd = cwd
		if _, _, err := l.Run(t.Context(), printing("", ""), x); err == nil {
			t.Errorf("directory %q was taken", cwd)
		}
	}
}

// A secret reaches neither log nor spill files nor the caller, whether it was
// printed or typed.
func TestRedacted(t *testing.T) {
	t.Parallel()
	const secret = "correct-horse-battery"
	dir := t.TempDir()
	l, err := evidence.Open(dir, runID, evidence.Options{Now: clock, Redact: redact.New(map[string]string{"PW": secret}).Bytes})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	x := execution("/w", "login "+secret)
	_, res, err := l.Run(t.Context(), printing("out "+secret, "err "+secret), x)
	if err != nil {
		t.Fatal(err)
	}
	x.Command, x.Run.Argv = "", []string{"login", "--pw=" + secret}
	if _, _, err := l.Run(t.Context(), printing("", ""), x); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Refuse(x, evidence.Denial{Code: "x", Rule: "login " + secret}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(res.Stdout.Bytes)+string(res.Stderr.Bytes), secret) {
		t.Error("the caller sees the secret")
	}
	for _, name := range []string{"evidence.jsonl", "spill/E1.stdout", "spill/E1.stderr"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(secret)) || !bytes.Contains(data, []byte("[redacted:PW]")) {
			t.Errorf("%s: %s", name, data)
		}
	}
	if n := verify(t, dir); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
}

// Whatever byte of the log or of a spill file is changed, Verify notices.
func TestEveryEditIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir)
	for i := range 6 {
		if _, _, err := l.Run(t.Context(), printing(fmt.Sprintf("out %d\n", i), "err\n"), execution("/w", "echo <&>")); err != nil {
			t.Fatal(err)
		}
	}
	verify(t, dir)
	files := []string{"evidence.jsonl", "evidence.jsonl", "spill/E1.stdout", "spill/E6.stderr"}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		name := filepath.Join(dir, files[i%len(files)])
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		after := bytes.Clone(before)
		at := rng.IntN(len(after))
		after[at] ^= byte(1 + rng.IntN(255))
		write(t, name, after)
		if _, err := evidence.Verify(dir, runID); err == nil {
			t.Errorf("%s: byte %d from %q to %q: not noticed", files[i%len(files)], at, before[at], after[at])
		}
		write(t, name, before)
	}
	verify(t, dir)
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The error names the first record that is wrong; the id of the run is part of
// the chain; whole records missing at the end show in the count only.
func TestVerifyNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir)
	for range 4 {
		if _, _, err := l.Run(t.Context(), printing("out", ""), execution("/w", "true")); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "evidence.jsonl")
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for _, tt := range []struct{ name, log, want string }{
		{"a field", strings.Replace(string(data), lines[1], strings.Replace(lines[1], `"exit":0`, `"exit":1`, 1), 1), "E2"},
		{"one taken out", lines[0] + lines[1] + lines[3], "E3"},
		{"two swapped", lines[0] + lines[2] + lines[1] + lines[3], "E2"},
		{"the first taken out", lines[1] + lines[2], "E1"},
		{"cut off", string(data[:len(data)-9]), "E4"},
		{"no line", string(data) + "\n", "E5"},
	} {
		write(t, log, []byte(tt.log))
		if _, err := evidence.Verify(dir, runID); err == nil || !strings.Contains(err.Error(), "record "+tt.want) {
			t.Errorf("%s: %v, want record %s", tt.name, err, tt.want)
		}
	}
	write(t, log, data)
	if _, err := evidence.Verify(dir, "another run"); err == nil {
		t.Error("the log passes for that of another run")
	}
	write(t, log, []byte(lines[0]+lines[1]))
	if n := verify(t, dir); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
	write(t, log, data)
	if err := os.Remove(filepath.Join(dir, "spill/E3.stdout")); err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.Verify(dir, runID); err == nil || !strings.Contains(err.Error(), "record E3") {
		t.Errorf("spill file missing: %v", err)
	}
}

// A spill name that leads elsewhere is not followed, even with its hash right.
func TestSpillStaysInside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, []byte("s"))
	if err := os.Symlink(secret, filepath.Join(dir, "spill", "E1.stdout")); err != nil {
		t.Fatal(err)
	}
	s := sha256.Sum256([]byte("s"))
	for _, name := range []string{"spill/E1.stdout", "../secret", secret, "spill/../../secret", "evidence.jsonl"} {
		if _, err := evidence.ReadOutput(dir, evidence.Output{SHA256: hex.EncodeToString(s[:]), Bytes: 1, Spill: name}); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// A log is continued where it ended: the torn line of a crash goes away, the
// chain and the ids go on, and what was there stays.
func TestContinue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir)
	first, _, err := l.Run(t.Context(), printing("one", ""), execution("/w", "true"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Refuse(execution("/w", "true"), evidence.Denial{}); err == nil {
		t.Error("a closed log took a record")
	}
	log := filepath.Join(dir, "evidence.jsonl")
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	write(t, log, append(data, data[:len(data)-1]...)) // all but the line's end
	l = open(t, dir)
	if got, ok := l.Record("E1"); !ok || cmp.Diff(first, got) != "" {
		t.Errorf("E1 is now %+v", got)
	}
	second, _, err := l.Run(t.Context(), printing("two", ""), execution("/w", "true"))
	if err != nil {
		t.Fatal(err)
	}
	if second.ID != "E2" || second.Prev != first.Hash {
		t.Errorf("got %+v", second)
	}
	if n := verify(t, dir); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
	got, err := evidence.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Records(), got); diff != "" {
		t.Error(diff)
	}
	if _, err := evidence.Open(dir, "another run", evidence.Options{Now: clock}); err == nil {
		t.Error("another run continued this log")
	}
	write(t, log, bytes.Replace(data, []byte(`"exit":0`), []byte(`"exit":1`), 1))
	if _, err := evidence.Open(dir, runID, evidence.Options{Now: clock}); err == nil {
		t.Error("a broken chain was continued")
	}
}

// Executions at the same time end up in one valid chain, with their own outputs.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), t.TempDir()
	l, sb := open(t, dir), shell(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			r, _, err := l.Run(t.Context(), sb, execution(root, fmt.Sprintf("echo out %d", i)))
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := l.Output(r.Stdout); err != nil || string(out) != fmt.Sprintf("out %d\n", i) {
				t.Errorf("%s: %q, %v; want out %d", r.ID, out, err, i)
			}
		})
	}
	wg.Wait()
	if n := verify(t, dir); n != 12 {
		t.Errorf("%d records, want 12", n)
	}
}

// What was running when the run was stopped is recorded as it was killed.
func TestCancelled(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), t.TempDir()
	l := open(t, dir)
	stop := errors.New("stopped by a person")
	ctx, cancel := context.WithCancelCause(t.Context())
	x := execution(root, "echo started; exec sleep 1000")
	x.Run.Stdout = writer(func() { cancel(stop) })
	r, _, err := l.Run(ctx, shell(t), x)
	if !errors.Is(err, stop) {
		t.Errorf("error %v, want %v", err, stop)
	}
	if r.ID != "E1" || !r.Executed || r.Signal != "SIGTERM" || r.Exit != 143 {
		t.Errorf("got %+v", r)
	}
	// With a context that is over from the start nothing is executed.
	if r, _, err = l.Run(ctx, shell(t), x); !errors.Is(err, stop) || r.ID != "E2" || r.Executed || r.Exit != -1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if n := verify(t, dir); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
}

type writer func()

func (w writer) Write(b []byte) (int, error) { w(); return len(b), nil }

// An execution that could not be started is no evidence of anything.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir)
	broken := errors.New("no such mount")
	_, _, err := l.Run(t.Context(), scripted(func(sandbox.Command) (sandbox.Result, error) {
		return sandbox.Result{Exit: -1}, broken
	}), execution("/w", "true"))
	if !errors.Is(err, broken) || len(l.Records()) != 0 {
		t.Errorf("error %v, %d records", err, len(l.Records()))
	}
}

// A run that is killed at any moment leaves a log that opens, verifies and holds
// everything that was said to be recorded.
func TestKilled(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		dir := t.TempDir()
		cmd := exec.Command(exe)
		cmd.Env = []string{"EVIDENCE_WRITE_TO=" + dir}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := 0
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if said++; said == 3+round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer ended by itself")
		}
		l := open(t, dir)
		if n := verify(t, dir); n < said || n < 3 {
			t.Errorf("%d records, said were %d", n, said)
		}
		if _, err := l.Refuse(execution("/w", "true"), evidence.Denial{Code: "x"}); err != nil {
			t.Error(err)
		}
		verify(t, dir)
	}
}

func writeForever(dir string) {
	l, err := evidence.Open(dir, runID, evidence.Options{Now: clock})
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				r, _, err := l.Run(context.Background(), printing(strings.Repeat("x", 4000), "y"), execution("/w", "true"))
				if err != nil {
					panic(err)
				}
				fmt.Println(r.ID)
			}
		})
	}
	wg.Wait()
}

// How a command ended is in its record, with all that the sandbox says of it.
func TestRecordOfEnding(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir)
	for _, res := range []sandbox.Result{
		{Exit: 3},
		{Exit: 137, Signal: "SIGKILL", TimedOut: true},
		{Exit: 137, Signal: "SIGKILL", Limit: "memory"},
		{Exit: 137, Signal: "SIGKILL", Limit: sandbox.LimitOutput},
	} {
		r, _, err := l.Run(t.Context(), scripted(func(sandbox.Command) (sandbox.Result, error) { return res, nil }), execution(dir, "x"))
		if err != nil {
			t.Fatal(err)
		}
		got := sandbox.Result{Exit: r.Exit, Signal: r.Signal, TimedOut: r.TimedOut, Limit: r.Limit}
		if diff := cmp.Diff(res, got); diff != "" || r.Stopped() != (res.TimedOut || res.Limit != "") {
			t.Errorf("stopped %v, -want +got\n%s", r.Stopped(), diff)
		}
	}
	if n := verify(t, dir); n != 4 {
		t.Errorf("%d records, want 4", n)
	}
}
