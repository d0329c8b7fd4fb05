package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// measuredScript asks for what is refused, too.
const measuredScript = `
-- verification --
> run_bash {"command": "sh sum.sh 2 3"}
> run_bash {"command": "sudo ls"}
---
### Check: adds two numbers [adversarial]
**Command run:** ` + "`sh sum.sh 2 3`" + `
**Output observed:**
` + "```\n{{output 1}}\n```" + `
**Result: PASS**

VERDICT: PASS
`

// A run moves each metric of it, what is answered is what Prometheus wants, and whatever is
// logged while it goes is JSON that reports the job, the delivery and the change.
func TestAppOperations(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.script = filepath.Join(t.TempDir(), "script")
	write(t, h.script, measuredScript)
	h.start(t, "--metrics-addr", "127.0.0.1:0")
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	line := h.wait(t, "run has ended", "state=finished")
	for _, want := range []string{"level=INFO", "repo=acme/sums", "pr=", "head=", "job=", "run=20", "delivery="} {
		if !strings.Contains(line, want) {
			t.Errorf("the log does not say %q: %s", want, line)
		}
	}
	text := h.scrape(t)
	for _, want := range []string{
		`ycbot_build_info\{version=".+"\} 1`,
		`ycbot_deliveries_total\{event="pull_request",result="accepted"\} 1`,
		`ycbot_runs_total\{state="finished",verdict="(PASS|PARTIAL)"\} 1`,
		`ycbot_run_duration_seconds_count\{verdict="(PASS|PARTIAL)"\} 1`,
		`ycbot_stage_duration_seconds_count\{stage="checkout"\} 1`, `ycbot_stage_duration_seconds_count\{stage="gate"\} 1`,
		`ycbot_stage_duration_seconds_count\{stage="agents"\} 1`, `ycbot_stage_duration_seconds_count\{stage="report"\} 1`,
		`ycbot_commands_total\{result="ok"\} [1-9]\d*`,
		`ycbot_model_answers_total 2`, `ycbot_model_tokens_total\{kind="input"\} [1-9]\d*`,
		`ycbot_model_cost_usd_total 0`,
		`ycbot_tool_calls_total\{result="ok"\} 1`, `ycbot_tool_calls_total\{result="error"\} 1`, `ycbot_denials_total\{code="hard_floor"\} 1`,
		`ycbot_sandbox_tier\{tier="none"\} 1`,
		`ycbot_queue_jobs\{state="waiting"\} 0`, `ycbot_queue_oldest_age_seconds 0`,
		`ycbot_github_requests_total\{code="2xx"\} [1-9]\d*`, `ycbot_github_rate_limit_remaining\{resource="core"\} 4\d\d\d`,
		`ycbot_github_request_duration_seconds_count [1-9]\d*`,
		`ycbot_http_request_duration_seconds_count\{code="202",route="POST /webhook"\} 1`,
		`go_goroutines [1-9]\d*`, `process_resident_memory_bytes .+`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(text) {
			t.Errorf("no line %s", want)
		}
	}
	if t.Failed() {
		t.Log(regexp.MustCompile(`(?m)^(#|go_|process_|.*_bucket).*\n`).ReplaceAllString(text, ""))
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	if strings.Contains(text, "acme") || strings.Contains(text, "sums") {
		t.Error("a repository is a label")
	}
}

// scrape reads /metrics where it is answered alone; the webhook's address does not have it.
func (h *installed) scrape(t *testing.T) string {
	t.Helper()
	get := func(url string) (int, string) {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	if code, _ := get(strings.TrimSuffix(h.hook, "/webhook") + "/metrics"); code != http.StatusNotFound {
		t.Errorf("/metrics beside the webhook answers %d", code)
	}
	code, text := get("http://" + h.metrics + "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", code, text)
	}
	if code, _ := get("http://" + h.metrics + "/readyz"); code != http.StatusOK {
		t.Errorf("/readyz answers %d", code)
	}
	return text
}

// Each line that the App logs is one JSON object, also those of what it stands on.
func TestAppLog(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	other, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	cmd := realProgram(t, h.home, "app", "serve", "--addr", other.Addr().String(), "--data", t.TempDir(), "--sandbox", "none")
	cmd.Env = append(cmd.Env, "YCBOT_DEBUG=1", "YCBOT_APP_ID=77", "YCBOT_APP_PRIVATE_KEY="+string(h.app.Key), "YCBOT_WEBHOOK_SECRET="+hookSecret)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("it listens on a port that another has")
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	last := lines[len(lines)-1]
	if !bytes.HasPrefix(last, []byte("ycbot: YCBOT_ADDR: ")) {
		t.Errorf("it ends with %s", last)
	}
	for _, line := range lines[:len(lines)-1] {
		if !json.Valid(line) {
			t.Errorf("no JSON: %s", line)
		}
	}
}
