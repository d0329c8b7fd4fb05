package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

const hookSecret = "a secret of the webhook's"

// An installed is a repository in which the App is installed, and a machine that
// serves it.
type installed struct {
	*hosted
	app    *githubtest.App
	id     int64 // of the installation
	data   string
	script string // that the model plays; empty: none
	hold   string // while there is such a file the repository's test does not end
	starts *os.File

	api      *httptest.Server
	mu       sync.Mutex
	missed   string   // what GitHub says of deliveries
	attempts []string // that were asked for

	program  string   // that runs in place of this one, such as an older ycbot; empty: this one
	database string   // of PostgreSQL; empty: SQLite
	env      []string // further variables
	*process
	hook    string
	metrics string // its address, where it has one of its own
}

// A process is one of the App's, and what it logs.
type process struct {
	cmd   *exec.Cmd
	lines chan string
}

// newInstalled has a test that says when it is run, and is held up while the file hold
// is there.
func newInstalled(t *testing.T) *installed {
	t.Helper()
	h := &installed{hosted: newHosted(t, good), data: t.TempDir(), missed: "[]"}
	dir := t.TempDir()
	h.hold = filepath.Join(dir, "hold")
	wait := func(hold string) string {
		return "if test -e " + hold + "; then echo >>" + filepath.Join(dir, "started") + "; fi\nwhile test -e " + hold + "; do sleep 0.1; done\n"
	}
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "held", Files: map[string]string{
		"test.sh": wait(h.hold) + "test \"$(sh sum.sh 1 1)\" = 2\n", "probe.sh": deadly(h.hold) + wait(h.hold+"-probe") + "sh sum.sh -1 1\n",
	}})
	h.Push(h.repo, githubtest.Commit{Branch: "held", Message: "change", Files: good})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Comment on sums", Author: "alice", Head: "held"})
	h.starts = watch(t, dir)
	h.app = h.AddApp(77, "ycbot")
	h.id = h.Install(h.app, mayPost, h.repo)
	h.api = httptest.NewServer(http.HandlerFunc(h.serveHooks))
	t.Cleanup(h.api.Close)
	return h
}

// deadly is a script's beginning that kills the process whose number a file holds, once.
func deadly(hold string) string {
	name := hold + "-kill"
	return "if test -e " + name + "; then p=$(cat " + name + "); rm " + name + "; kill -9 $p; fi\n"
}

// serveHooks answers what githubtest does not know.
func (h *installed) serveHooks(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case r.URL.Path == "/app/hook/deliveries":
		_, _ = io.WriteString(w, h.missed)
	case strings.HasPrefix(r.URL.Path, "/app/hook/deliveries/"):
		h.attempts = append(h.attempts, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusAccepted)
	default:
		h.mu.Unlock()
		h.ServeHTTP(w, r)
		h.mu.Lock()
	}
}

// start starts the server and waits until it listens.
func (h *installed) start(t *testing.T, args ...string) {
	t.Helper()
	h.process = h.launch(t, append([]string{"app", "serve", "--sandbox", "none", "--addr", "127.0.0.1:0", "--data", h.data, "--drain", "100ms"}, args...)...)
	line := h.wait(t, "msg=listening")
	_, addr, _ := strings.Cut(line, "addr=")
	addr, _, _ = strings.Cut(addr, " ")
	h.hook = "http://" + addr + "/webhook"
	if slices.Contains(args, "--metrics-addr") {
		_, addr, _ := strings.Cut(h.wait(t, "msg=metrics"), "addr=")
		h.metrics, _, _ = strings.Cut(addr, " ")
	}
}

// launch starts a process of the App.
func (h *installed) launch(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := realProgram(t, h.home, args...)
	if h.program != "" {
		cmd.Path = h.program
	}
	cmd.Env = append(cmd.Env, "YCBOT_APP_ID=77", "YCBOT_APP_PRIVATE_KEY="+string(h.app.Key), "YCBOT_WEBHOOK_SECRET="+hookSecret,
		"YCBOT_GITHUB_URL="+h.api.URL, "GITHUB_SERVER_URL="+h.URL, "YCBOT_PUBLIC_URL=https://ycbot.example.com", "DATABASE_URL="+h.database)
	cmd.Env = append(cmd.Env, h.env...)
	if h.script != "" {
		cmd.Env = append(cmd.Env, "YCBOT_PROVIDER=script", "YCBOT_BASE_URL="+h.script)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, lines: make(chan string, 10_000)}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			p.lines <- flat(s.Bytes())
		}
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return p
}

// flat is a line of the log as key=value, in the order of its keys, and as it is where it is no JSON.
func flat(line []byte) string {
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return string(line)
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "%s=%v ", key, fields[key])
	}
	return b.String()
}

// wait reads the log to a line that has all words.
func (p *process) wait(t *testing.T, words ...string) string {
	t.Helper()
	timeout := time.After(hangs)
	var log []string
	for {
		select {
		case line, ok := <-p.lines:
			log = append(log, line)
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
				return line
			}
			if !ok {
				t.Fatalf("the process ended before it said %q:\n%s", words, strings.Join(log, "\n"))
			}
		case <-timeout:
			t.Fatalf("the process did not say %q:\n%s", words, strings.Join(log, "\n"))
		}
	}
}

// end signals the process and waits for its end.
func (p *process) end(t *testing.T, sig os.Signal) int {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	for range p.lines {
		continue
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// started waits until the repository's test is run and held up.
func (h *installed) started(t *testing.T) {
	t.Helper()
	if err := h.starts.SetReadDeadline(time.Now().Add(hangs)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := h.starts.Read(make([]byte, 4096)); err != nil {
			t.Fatalf("the test is not run: %v", err)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(h.hold), "started")); err == nil {
			return
		}
	}
}

func (h *installed) deliver(t *testing.T, event string, body []byte) {
	t.Helper()
	if status := h.Deliver(t.Context(), h.hook, hookSecret, event, body); status != http.StatusAccepted {
		t.Fatalf("%s is answered with %d, want 202", event, status)
	}
}

// outcome is what people see: the check runs in their order and the comments.
func (h *installed) outcome() string {
	var b strings.Builder
	for _, r := range h.CheckRuns(h.repo) {
		title := ""
		if r.Output != nil {
			title, _, _ = strings.Cut(r.Output.Title, ":")
		}
		fmt.Fprintf(&b, "check %s %s %s %s\n", r.Name, r.Status, r.Conclusion, title)
	}
	for _, c := range h.Comments(h.repo, h.pull) {
		if c.Author.Login != "ycbot[bot]" {
			continue
		}
		for line := range strings.Lines(c.Body) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<!--") {
				fmt.Fprintf(&b, "comment %.30s\n", line)
				break
			}
		}
	}
	return b.String()
}

// checks is the outcome without the comments, and how many of those there are.
func (h *installed) checks() (checks []string, comments int) {
	for line := range strings.Lines(h.outcome()) {
		if strings.HasPrefix(line, "check ") {
			checks = append(checks, strings.TrimSpace(line))
		} else {
			comments++
		}
	}
	return checks, comments
}

func (h *installed) held(t *testing.T) {
	t.Helper()
	write(t, h.hold, "")
}

func (h *installed) release(t *testing.T) {
	t.Helper()
	if err := os.Remove(h.hold); err != nil {
		t.Fatal(err)
	}
}

// A pull request gets one check run, whose details are the run's page, and one comment,
// however often it is delivered; asking for the check run again gives another check run
// and no other comment; deliveries that failed are asked for once.
func TestAppVerifiesPullRequest(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.mu.Lock() // the server answers already
	h.missed = hookList()
	h.mu.Unlock()
	h.start(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.wait(t, "run has ended", "state=finished", "verdict=")
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.wait(t, "delivery stored", "fresh=false")
	checks, comments := h.checks()
	if len(checks) != 1 || comments != 1 || !strings.HasPrefix(checks[0], "check ycbot completed ") {
		t.Fatalf("people see\n%s", h.outcome())
	}
	run := h.CheckRuns(h.repo)[0]
	if !strings.HasPrefix(run.DetailsURL, "https://ycbot.example.com/runs/20") || run.AppID != 77 || run.ExternalID == "" {
		t.Errorf("the check run is of App %d, job %q, page %q", run.AppID, run.ExternalID, run.DetailsURL)
	}
	if dirs, err := filepath.Glob(filepath.Join(h.data, "runs/acme/sums", fmt.Sprint(h.pull), run.HeadSHA[:7]+"-*", "SHA256SUMS")); err != nil || len(dirs) != 1 {
		t.Errorf("finished run directories %q, want one", dirs)
	}
	h.deliver(t, "check_run", h.CheckRunEvent(h.repo, run.ID, "rerequested", "alice", ""))
	h.wait(t, "run has ended", "state=finished")
	if checks, comments := h.checks(); len(checks) != 2 || checks[0] != checks[1] || comments != 1 {
		t.Errorf("asked for again, people see\n%s", h.outcome())
	}
	h.mu.Lock()
	if got := strings.Join(h.attempts, " "); got != "POST /app/hook/deliveries/2/attempts" {
		t.Errorf("attempts that were asked for: %q", got)
	}
	h.mu.Unlock()
	if code := h.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}

// A run takes the results of the base's tests out of the database, where any worker
// finds them, and leaves none in a folder of its own.
func TestAppKnowsTheBase(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.start(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.wait(t, "run has ended", "state=finished", "verdict=")
	h.Push(h.repo, githubtest.Commit{Branch: "held", Message: "more", Files: map[string]string{"more.txt": "more\n"}})
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "alice", ""))
	h.wait(t, "run has ended", "state=finished", "verdict=")
	reports, err := filepath.Glob(filepath.Join(h.data, "runs/*/*/*/*/report.json"))
	if err != nil || len(reports) != 2 {
		t.Fatalf("reports %q, %v", reports, err)
	}
	knew := 0
	for _, name := range reports {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), " base test result") {
			knew++
		}
	}
	folders, err := filepath.Glob(filepath.Join(h.data, "*/projects/*/cache/base"))
	if knew != 1 || len(folders) > 0 || err != nil {
		t.Errorf("%d runs knew results of the base, want the second; folders %q, %v", knew, folders, err)
	}
}

// hookList has an event that arrived at last, and one that did not.
func hookList() string {
	type delivery struct {
		ID          int64     `json:"id"`
		GUID        string    `json:"guid"`
		DeliveredAt time.Time `json:"delivered_at"`
		StatusCode  int       `json:"status_code"`
	}
	now := time.Now().UTC()
	text, _ := json.Marshal([]delivery{
		{4, "arrived", now.Add(-time.Minute), 202},
		{3, "lost", now.Add(-2 * time.Minute), 502},
		{2, "lost", now.Add(-3 * time.Minute), 0},
		{1, "arrived", now.Add(-4 * time.Minute), 503},
	})
	return string(text)
}

// A push ends the run of the older head, whose check run ends cancelled.
func TestAppPushSupersedes(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.start(t)
	h.held(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.started(t)
	h.Push(h.repo, githubtest.Commit{Branch: "held", Message: "more", Files: map[string]string{"sum.sh": "# adds two\necho \"$(($1 + $2))\"\n"}})
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "synchronize", "alice", ""))
	h.wait(t, "run has ended", "state=superseded") // while its command is held
	h.release(t)
	h.wait(t, "run has ended", "state=finished")
	checks, comments := h.checks()
	if len(checks) != 2 || !strings.HasPrefix(checks[0], "check ycbot completed cancelled") || strings.Contains(checks[1], "cancelled") || comments != 1 {
		t.Errorf("people see\n%s", h.outcome())
	}
}

// A person who may write stops a run by a comment, also when every worker is busy with it;
// who may not write does not; and each command gets its one answer.
func TestAppStop(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.start(t, "--workers", "1", "--per-repo", "1")
	h.held(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.started(t)
	for _, c := range [][3]string{
		{"bob", "/verify stop", "permission"}, {"alice", "/verify status", "is running"}, {"alice", "/verify stop", "The run was stopped"}, {"alice", "/verify dance", "/verify"},
	} {
		id, event := h.says(c[0], c[1])
		h.deliver(t, "issue_comment", event)
		h.waitFor(t, func() bool { return h.answerTo(id) != "" })
		if text := h.answerTo(id); !strings.Contains(text, c[2]) {
			t.Errorf("%s, who says %q, is answered %q, want %q in it", c[0], c[1], text, c[2])
		}
		if got := h.Reactions(h.repo, id); c[2] == "The run was stopped" && (len(got) != 1 || got[0].Content != "eyes") {
			t.Errorf("reactions to the stop: %v", got)
		}
	}
	h.wait(t, "run has ended", "state=stopped")
	checks, comments := h.checks()
	if len(checks) != 1 || !strings.HasPrefix(checks[0], "check ycbot completed cancelled") || comments != 2 {
		t.Errorf("people see\n%s", h.outcome())
	}
	// Once more, through a server that knows nothing: the queue has them as well.
	before := len(h.Comments(h.repo, h.pull))
	h.end(t, syscall.SIGKILL)
	h.release(t)
	h.start(t)
	_, event := h.says("alice", "/verify")
	h.deliver(t, "issue_comment", event)
	h.wait(t, "run has ended", "state=finished")
	if after := len(h.Comments(h.repo, h.pull)); after != before+1 {
		t.Errorf("%d comments after the restart, %d before and the command: answers came twice", after, before)
	}
}

// waitFor asks GitHub until it has what should come, each time that the server makes a
// call of it.
func (h *installed) waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(hangs)
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("it does not come; people see\n%s", h.outcome())
		}
	}
}

// answerTo is the answer to a comment, as long as no other has taken its place.
func (h *installed) answerTo(id int64) string {
	for _, c := range h.Comments(h.repo, h.pull) {
		if c.Author.Login == "ycbot[bot]" && strings.Contains(c.Body, fmt.Sprintf("#issuecomment-%d)", id)) {
			return c.Body
		}
	}
	return ""
}

// appScript asks, looks, and is held up in the second command.
const appScript = `
-- verification --
> run_bash {"command": "sh sum.sh 2 3"}
---
> run_bash {"command": "sh probe.sh"}
---
### Check: adds two numbers [adversarial]
**Command run:** ` + "`sh sum.sh 2 3`" + `
**Output observed:**
` + "```\n{{output 1}}\n```" + `
**Result: PASS**

VERDICT: PASS
`

// A server that is killed, or asked to end, in the middle of a run goes on with it when it is
// started again: one check run, one comment, one run, and no question is asked of the model
// twice.
func TestAppGoesOn(t *testing.T) {
	variants.Only(t) // a job that is killed and goes on; TestKilledRunGoesOn has the run
	t.Parallel()
	for _, test := range []struct {
		name  string
		sig   syscall.Signal
		probe bool // in a command of an agent, else of the gate
	}{{"killed in the gate", syscall.SIGKILL, false}, {"killed in an agent", syscall.SIGKILL, true}, {"ended in an agent", syscall.SIGTERM, true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newInstalled(t)
			h.script = filepath.Join(t.TempDir(), "script")
			write(t, h.script, appScript)
			if test.probe {
				h.hold += "-probe"
			}
			h.start(t)
			h.held(t)
			h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
			h.started(t)
			h.end(t, test.sig)
			most := 0
			if test.probe { // the first verdict may be shown by then
				most = 1
			}
			if checks, comments := h.checks(); len(checks) != 1 || !strings.Contains(checks[0], "in_progress") || comments > most {
				t.Fatalf("in between people see\n%s", h.outcome())
			}
			h.release(t)
			h.start(t)
			h.wait(t, "run has ended", "state=finished")
			if checks, comments := h.checks(); len(checks) != 1 || !strings.HasPrefix(checks[0], "check ycbot completed ") || strings.Contains(checks[0], "cancelled") || comments != 1 {
				t.Errorf("people see\n%s", h.outcome())
			}
			dirs, err := filepath.Glob(filepath.Join(h.data, "runs/acme/sums/*/*"))
			if err != nil || len(dirs) != 1 {
				t.Fatalf("run directories %q, want one", dirs)
			}
			askedOnce(t, dirs[0])
		})
	}
}

// askedOnce holds that in a run of appScript no question was asked twice.
func askedOnce(t *testing.T, dir string) {
	t.Helper()
	asked := (&killed{out: dir}).asked(t)
	if len(asked) != 3 {
		t.Errorf("questions %v, want 3", asked)
	}
	for question, n := range asked {
		if n != 1 {
			t.Errorf("question %s was asked %d times", question, n)
		}
	}
}

// A server that is killed while it publishes, when GitHub did what it was asked and before
// the answer came, publishes once all the same, and does no finished run again.
func TestAppTellsOnce(t *testing.T) {
	variants.Only(t) // TestKilledWhileQueued of internal/publish has it
	t.Parallel()
	for _, call := range []string{"POST check-runs", "POST comments", "PATCH comments", "PATCH check-runs"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			h := newInstalled(t)
			h.start(t)
			var once sync.Once
			p := h.process
			method, what, _ := strings.Cut(call, " ")
			h.FailAt(0, githubtest.Hook(func(_ int, r *http.Request, phase string) {
				if phase == "after" && r.Method == method && strings.Contains(r.URL.Path, "/"+what) {
					once.Do(func() { _ = p.cmd.Process.Kill() })
				}
			}))
			h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
			for range p.lines {
				continue
			}
			h.Heal()
			ended, err := filepath.Glob(filepath.Join(h.data, "runs/acme/sums/*/*/SHA256SUMS"))
			if err != nil {
				t.Fatal(err)
			}
			if len(ended) > 0 { // else the first verdict was being shown, and the run goes on
				h.held(t) // the run has ended, and is not done again
			}
			h.start(t)
			h.wait(t, "run has ended", "state=finished")
			if checks, comments := h.checks(); len(checks) != 1 || !strings.HasPrefix(checks[0], "check ycbot completed ") || comments != 1 {
				t.Errorf("people see\n%s", h.outcome())
			}
		})
	}
}

// Of a stranger's fork nothing is executed below tier full, whatever the operator allows for
// trusted heads, and the check run fails for it; no one but who may write can ask, and who may
// must name the commit.
func TestAppStrangersFork(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.SetPermission(h.repo, "mallory", "read")
	fork := h.AddFork(h.repo, "mallory")
	h.Push(fork.Repo, githubtest.Commit{Branch: "evil", Message: "evil", Files: map[string]string{"sum.sh": "touch " + h.hold + "\necho 2\n"}})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Help", Author: "mallory", Head: "evil", From: fork.Repo})
	h.start(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "mallory", ""))
	h.wait(t, "run has ended")
	if checks, _ := h.checks(); len(checks) != 1 || !strings.HasPrefix(checks[0], "check ycbot completed failure not executed") {
		t.Errorf("people see\n%s", h.outcome())
	}
	for _, says := range [][3]string{{"mallory", "/verify", "permission"}, {"alice", "/verify", "/verify " + h.PullHead(h.repo, h.pull)[:12]}} {
		id, event := h.says(says[0], says[1])
		h.deliver(t, "issue_comment", event)
		h.waitFor(t, func() bool { return h.answerTo(id) != "" })
		if text := h.answerTo(id); !strings.Contains(text, says[2]) {
			t.Errorf("%s is answered %q, want %q in it", says[0], text, says[2])
		}
	}
	if _, err := os.Stat(h.hold); err == nil {
		t.Error("the fork's code was executed")
	}
}
