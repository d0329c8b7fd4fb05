// Package telemetry is what operators see of ycbot from outside: metrics for
// Prometheus and traces for OpenTelemetry.
//
// Both are made from what the rest of the program reports anyhow: the events of a
// run, the end of a run, the answer to a delivery. A nil [Metrics] and a nil
// [Tracing] take everything and do nothing, so that callers need not ask.
//
// Nothing here holds a secret or text of a pull request. Labels of metrics have
// few values, no matter what is sent: what is not known counts as "other".
// Repositories are no labels.
package telemetry

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ycbot/ycbot/internal/transcript"
)

// Metrics are the instruments of one process of the App.
type Metrics struct {
	registry *prometheus.Registry
	now      func() time.Time

	deliveries   *prometheus.CounterVec
	runs         *prometheus.CounterVec
	runTime      *prometheus.HistogramVec
	stageTime    *prometheus.HistogramVec
	commands     *prometheus.CounterVec
	tokens       *prometheus.CounterVec
	answers      prometheus.Counter
	cost         prometheus.Counter
	calls        *prometheus.CounterVec
	denials      *prometheus.CounterVec
	sandbox      *prometheus.GaugeVec
	github       *prometheus.CounterVec
	githubTime   prometheus.Histogram
	githubLimits *limits
	httpTime     *prometheus.HistogramVec
}

// NewMetrics makes instruments with a registry of their own, of the program of a version.
func NewMetrics(version string, now func() time.Time) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), now: now, githubLimits: newLimits(now)}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	short, long := prometheus.DefBuckets, []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 2400, 3600}
	m.deliveries = counter("ycbot_deliveries_total", "Webhook deliveries, by event and by what became of them.", "event", "result")
	m.runs = counter("ycbot_runs_total", "Runs that ended, by state and verdict.", "state", "verdict")
	m.runTime = histogram("ycbot_run_duration_seconds", "Time from the begin of a run to its end, by verdict.", long, "verdict")
	m.stageTime = histogram("ycbot_stage_duration_seconds", "Time that a stage of a run took.", long, "stage")
	m.commands = counter("ycbot_commands_total", "Commands of the gate that ended, by result.", "result")
	m.tokens = counter("ycbot_model_tokens_total", "Tokens of models, by kind: input, cached (a part of input), output.", "kind")
	m.calls = counter("ycbot_tool_calls_total", "Calls of tools by agents, by result.", "result")
	m.denials = counter("ycbot_denials_total", "Calls of tools that were refused, by code.", "code")
	m.github = counter("ycbot_github_requests_total", "Requests to GitHub's API, by class of the answer.", "code")
	m.httpTime = histogram("ycbot_http_request_duration_seconds", "Time to answer a request, by route and status.", short, "route", "code")
	m.answers = prometheus.NewCounter(prometheus.CounterOpts{Name: "ycbot_model_answers_total", Help: "Answers of models."})
	m.cost = prometheus.NewCounter(prometheus.CounterOpts{Name: "ycbot_model_cost_usd_total", Help: "What models cost, in US dollars, as far as prices are known."})
	m.githubTime = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "ycbot_github_request_duration_seconds", Help: "Time that GitHub's API took to answer.", Buckets: short})
	m.sandbox = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "ycbot_sandbox_tier", Help: "1 for the tier in which this process executes changes."}, []string{"tier"})
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "ycbot_build_info", Help: "Always 1; the labels name the version.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(
		m.deliveries, m.runs, m.runTime, m.stageTime, m.commands, m.tokens, m.answers, m.cost, m.calls, m.denials, m.sandbox, m.github, m.githubTime,
		m.githubLimits, m.httpTime, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Handler answers GET /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}

// Gatherer gives what there is, for tests.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// What became of a delivery.
const (
	DeliveryAccepted = "accepted" // its job is on disk
	DeliveryRepeated = "repeated" // so it was before
	DeliveryIgnored  = "ignored"  // it was stored; nothing is to be done
	DeliveryRefused  = "refused"  // its signature, size or form is wrong
	DeliveryFailed   = "failed"   // it could not be stored
)

// events are those of GitHub's that are counted by name.
const events = "pull_request issue_comment check_run check_suite merge_group installation installation_repositories ping push workflow_run"

// Delivery counts a delivery.
func (m *Metrics) Delivery(event, result string) {
	if m == nil {
		return
	}
	m.deliveries.WithLabelValues(among(event, events), result).Inc()
}

// A RunEnd is what metrics say of a run that ended.
type RunEnd struct {
	State    string
	Verdict  string // empty: none
	Duration time.Duration
	CostUSD  float64
}

// Run counts a run that ended.
func (m *Metrics) Run(r RunEnd) {
	if m == nil {
		return
	}
	verdict := among(r.Verdict, "PASS FAIL PARTIAL ERROR")
	if r.Verdict == "" {
		verdict = "none"
	}
	m.runs.WithLabelValues(r.State, verdict).Inc()
	if r.Duration > 0 {
		m.runTime.WithLabelValues(verdict).Observe(r.Duration.Seconds())
	}
	if r.CostUSD > 0 {
		m.cost.Add(r.CostUSD)
	}
}

// Event counts what an event of a run says.
func (m *Metrics) Event(e transcript.Event) {
	if m == nil {
		return
	}
	switch e.Type {
	case transcript.StageDone:
		m.stageTime.WithLabelValues(e.Step.Stage).Observe(float64(e.DurationMS) / 1000)
	case transcript.CommandDone:
		m.commands.WithLabelValues(commandResult(e.Step)).Inc()
	case transcript.Message:
		m.answers.Inc()
		if u := e.Usage; u != nil {
			m.tokens.WithLabelValues("input").Add(float64(u.Input))
			m.tokens.WithLabelValues("cached").Add(float64(u.Cached))
			m.tokens.WithLabelValues("output").Add(float64(u.Output))
		}
	case transcript.ToolResult:
		result := "ok"
		if e.Errored {
			result = "error"
		}
		m.calls.WithLabelValues(result).Inc()
	case transcript.CallDenied:
		m.denials.WithLabelValues(e.Denied.Code).Inc()
	}
}

func commandResult(s *transcript.Step) string {
	switch {
	case s.TimedOut:
		return "timed_out"
	case s.Exit == nil:
		return "not_run"
	case *s.Exit != 0:
		return "failed"
	}
	return "ok"
}

// Sandbox reports the tier in which changes are executed.
func (m *Metrics) Sandbox(tier string) {
	if m == nil {
		return
	}
	m.sandbox.Reset()
	m.sandbox.WithLabelValues(tier).Set(1)
}

// among is word where it is one of words, and else "other".
func among(word, words string) string {
	if slices.Contains(strings.Fields(words), word) {
		return word
	}
	return "other"
}

// class is the class of a status, such as 4xx.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
