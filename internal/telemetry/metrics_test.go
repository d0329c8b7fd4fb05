package telemetry_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/ycbot/ycbot/internal/telemetry"
	"github.com/ycbot/ycbot/internal/transcript"
)

// clock is a time that moves on by a second each time it is asked.
func clock() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// scrape is what /metrics answers.
func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no line %q", line)
		}
	}
	if t.Failed() {
		var own []string
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "ycbot_") && !strings.Contains(line, "_bucket") {
				own = append(own, line)
			}
		}
		t.Logf("there are\n%s", strings.Join(own, ""))
	}
}

// Each thing that is reported moves its instrument, names and helps are as Prometheus wants
// them, and strangers cannot make labels.
func TestMetrics(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1.2.3", clock())
	m.Queue(func(context.Context) (telemetry.Jobs, error) {
		return telemetry.Jobs{Waiting: 3, Working: 2, Oldest: 90 * time.Second}, nil
	})
	m.Delivery("pull_request", telemetry.DeliveryAccepted)
	m.Delivery("made up by a stranger", telemetry.DeliveryRefused)
	m.Run(telemetry.RunEnd{State: "finished", Verdict: "FAIL", Duration: 20 * time.Second, CostUSD: 0.25})
	m.Run(telemetry.RunEnd{State: "skipped"})
	m.Sandbox("basic")
	m.Sandbox("full")
	zero, one := 0, 1
	for _, e := range []transcript.Event{
		{Type: transcript.StageDone, Step: &transcript.Step{Stage: "gate"}, DurationMS: 1500},
		{Type: transcript.CommandDone, Step: &transcript.Step{Exit: &zero}},
		{Type: transcript.CommandDone, Step: &transcript.Step{Exit: &one}},
		{Type: transcript.CommandDone, Step: &transcript.Step{Exit: &one, TimedOut: true}},
		{Type: transcript.CommandDone, Step: &transcript.Step{}},
		{Type: transcript.Message, Usage: &transcript.Usage{Input: 100, Output: 7, Cached: 60}},
		{Type: transcript.ToolResult},
		{Type: transcript.ToolResult, Errored: true},
		{Type: transcript.CallDenied, Denied: &transcript.Denied{Code: "policy_deny"}},
		{Type: transcript.ContentToken, Text: "not counted"},
	} {
		m.Event(e)
	}
	text := scrape(t, m)
	has(t, text,
		`ycbot_build_info{version="v1.2.3"} 1`,
		`ycbot_deliveries_total{event="pull_request",result="accepted"} 1`,
		`ycbot_deliveries_total{event="other",result="refused"} 1`,
		`ycbot_runs_total{state="finished",verdict="FAIL"} 1`,
		`ycbot_runs_total{state="skipped",verdict="none"} 1`,
		`ycbot_run_duration_seconds_sum{verdict="FAIL"} 20`,
		`ycbot_stage_duration_seconds_sum{stage="gate"} 1.5`,
		`ycbot_commands_total{result="ok"} 1`, `ycbot_commands_total{result="failed"} 1`,
		`ycbot_commands_total{result="timed_out"} 1`, `ycbot_commands_total{result="not_run"} 1`,
		`ycbot_model_tokens_total{kind="input"} 100`, `ycbot_model_tokens_total{kind="output"} 7`, `ycbot_model_tokens_total{kind="cached"} 60`,
		`ycbot_model_answers_total 1`, `ycbot_model_cost_usd_total 0.25`,
		`ycbot_tool_calls_total{result="ok"} 1`, `ycbot_tool_calls_total{result="error"} 1`,
		`ycbot_denials_total{code="policy_deny"} 1`,
		`ycbot_sandbox_tier{tier="full"} 1`,
		`ycbot_queue_jobs{state="waiting"} 3`, `ycbot_queue_jobs{state="working"} 2`, `ycbot_queue_oldest_age_seconds 90`,
	)
	if strings.Contains(text, "stranger") || strings.Contains(text, `tier="basic"`) {
		t.Error("there is a label that must not be there")
	}
	for _, want := range []string{"go_goroutines ", "process_start_time_seconds "} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}

// A database that does not answer costs the metrics of the queue and no others.
func TestMetricsWithoutQueue(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1", clock())
	m.Queue(func(context.Context) (telemetry.Jobs, error) { return telemetry.Jobs{}, errors.New("gone") })
	m.Sandbox("full")
	text := scrape(t, m)
	has(t, text, `ycbot_sandbox_tier{tier="full"} 1`)
	if strings.Contains(text, "ycbot_queue_jobs{") {
		t.Error("the queue is reported though it is not known")
	}
}

// No caller has to ask whether there are metrics.
func TestNoMetrics(t *testing.T) {
	t.Parallel()
	var m *telemetry.Metrics
	m.Delivery("push", telemetry.DeliveryIgnored)
	m.Run(telemetry.RunEnd{})
	m.Event(transcript.Event{Type: transcript.StageDone})
	m.Sandbox("full")
	m.Queue(nil)
	if h := http.NotFoundHandler(); m.HTTP(h) == nil || m.GitHub(nil, 1) != nil {
		t.Error("what is passed through is changed")
	}
}

// Of several installations the one that has least left is reported, until an hour has passed.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	m := telemetry.NewMetrics("v1", func() time.Time { return now })
	remaining := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", remaining)
		w.Header().Set("X-RateLimit-Resource", "core")
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	ask := func(installation int64, left string) {
		remaining = left
		resp, err := (&http.Client{Transport: m.GitHub(nil, installation)}).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	ask(1, "40")
	now = now.Add(30 * time.Minute)
	ask(2, "4000")
	has(t, scrape(t, m), `ycbot_github_rate_limit_remaining{resource="core"} 40`, `ycbot_github_requests_total{code="4xx"} 2`)
	now = now.Add(40 * time.Minute)
	has(t, scrape(t, m), `ycbot_github_rate_limit_remaining{resource="core"} 4000`)
	ask(1, "")
	server.Close()
	if _, err := (&http.Client{Transport: m.GitHub(nil, 1)}).Get(server.URL); err == nil { //nolint:bodyclose // there is none
		t.Fatal("a server that is gone answers")
	}
	has(t, scrape(t, m), `ycbot_github_rate_limit_remaining{resource="core"} 4000`, `ycbot_github_requests_total{code="none"} 1`)
}

// Answers are counted by route, not by address, and one that goes on is passed on at once.
func TestHTTPLatency(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1", clock())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /runs/{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		if _, ok := w.(http.Flusher); !ok {
			t.Error("it cannot be flushed")
		}
	})
	for _, path := range []string{"/runs/1", "/runs/2", "/made/up"} {
		m.HTTP(mux).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	has(t, scrape(t, m),
		`ycbot_http_request_duration_seconds_count{code="418",route="GET /runs/{id}"} 2`, `ycbot_http_request_duration_seconds_sum{code="418",route="GET /runs/{id}"} 2`,
		`ycbot_http_request_duration_seconds_count{code="404",route="none"} 1`)
}
