package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A collector takes traces over OTLP.
type collector struct {
	url string

	mu       sync.Mutex
	spans    []*tracepb.Span
	resource map[string]string
	header   http.Header
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		data, err := io.ReadAll(body)
		var in tracepb.TracesData // the same on the wire as a request to export
		if err == nil {
			err = proto.Unmarshal(data, &in)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.header = r.Header
		for _, rs := range in.ResourceSpans {
			c.resource = attributes(rs.Resource.Attributes)
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func attributes(all []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range all {
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			out[kv.Key] = fmt.Sprint(v.IntValue)
		default:
			out[kv.Key] = kv.Value.String()
		}
	}
	return out
}

// tree is the names of the spans, each below its parent, in the order of their times. Commands
// of the gate are left out.
func (c *collector) tree(t *testing.T) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.spans, func(a, b *tracepb.Span) int {
		return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano))
	})
	var b strings.Builder
	ids := map[string]*tracepb.Span{}
	for _, s := range c.spans {
		ids[string(s.SpanId)] = s
		if string(s.TraceId) != string(c.spans[0].TraceId) || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("span %s is of another trace, or ends before it begins", s.Name)
		}
	}
	var below func(parent []byte, depth int)
	below = func(parent []byte, depth int) {
		for _, s := range c.spans {
			if bytes.Equal(s.ParentSpanId, parent) && !strings.HasPrefix(s.Name, "command ") {
				fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), s.Name)
				below(s.SpanId, depth+1)
			}
		}
	}
	for _, s := range c.spans {
		if ids[string(s.ParentSpanId)] == nil {
			b.WriteString(s.Name + "\n")
			below(s.SpanId, 1)
		}
	}
	return b.String()
}

// span is the attributes of the first span of a name.
func (c *collector) span(t *testing.T, name string) (*tracepb.Span, map[string]string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			return s, attributes(s.Attributes)
		}
	}
	t.Fatalf("there is no span %q", name)
	return nil, nil
}

const tracedScript = `
-- verification --
> run_bash {"command": "sh sum.sh 2 3"}
> run_bash {"command": "sudo ls"}
> made_up_by_the_model {}
---
### Check: adds two numbers [adversarial]
**Command run:** ` + "`sh sum.sh 2 3`" + `
**Output observed:**
` + "```\n{{output 1}}\n```" + `
**Result: PASS**

VERDICT: PASS
`

// A run is one trace: in it its stages, in these the gate's commands and the agents, in those
// the model's answers and the calls of tools, under the names that OpenTelemetry has for them,
// below the span that TRACEPARENT names. No text of anyone's is in it.
func TestTrace(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	dir := t.TempDir()
	repo, scenario := filepath.Join(dir, "repo"), filepath.Join(dir, "script")
	makeChange(t, repo, sumBase, sumHead)
	write(t, scenario, tracedScript)
	cmd := realProgram(t, dir, "run", "-C", repo, "--sandbox", "none", "--provider", "script", "--base-url", scenario, "--task", "a text of someone else")
	const parent = "00f067aa0ba902b7"
	cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_SERVICE_NAME=mine", "OTEL_EXPORTER_OTLP_HEADERS=x-team=ours",
		"TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-"+parent+"-01")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() > 2 {
		t.Fatalf("%v\n%s", err, out)
	}
	want := `run
  stage checkout
  stage gate
  stage agents
    invoke_agent verification
      chat script
      execute_tool run_bash
      execute_tool run_bash
      execute_tool other
      chat script
  stage report
`
	if diff := cmp.Diff(want, c.tree(t)); diff != "" {
		t.Errorf("the tree of spans (-want +got):\n%s", diff)
	}
	root, attrs := c.span(t, "run")
	if hex.EncodeToString(root.ParentSpanId) != parent || attrs["ycbot.door"] != "run" || attrs["ycbot.trigger"] != "cli" || attrs["ycbot.run.id"] == "" || attrs["ycbot.verdict"] == "" {
		t.Errorf("the run: parent %x, %v", root.ParentSpanId, attrs)
	}
	_, attrs = c.span(t, "chat script")
	for key, want := range map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "script", "gen_ai.request.model": "script",
		"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "10",
	} {
		if attrs[key] != want {
			t.Errorf("the answer of the model: %s is %q, want %q", key, attrs[key], want)
		}
	}
	_, attrs = c.span(t, "execute_tool run_bash")
	if attrs["gen_ai.operation.name"] != "execute_tool" || attrs["gen_ai.tool.name"] != "run_bash" || !strings.Contains(attrs["ycbot.evidence"], "E") {
		t.Errorf("the call: %v", attrs)
	}
	if _, attrs := c.span(t, "command test"); attrs["process.exit.code"] != "0" || attrs["ycbot.side"] == "" {
		t.Errorf("the command of the gate: %v", attrs)
	}
	if c.resource["service.name"] != "mine" || c.resource["service.version"] == "" || c.header.Get("X-Team") != "ours" {
		t.Errorf("resource %v, header %v", c.resource, c.header)
	}
	denied := 0
	for _, s := range c.spans {
		if attributes(s.Attributes)["ycbot.denied.code"] == "hard_floor" {
			denied++
		}
		for _, secret := range []string{"sum.sh", "sudo", "someone", "made_up", "adds two"} {
			if strings.Contains(s.String(), secret) {
				t.Errorf("%q is in span %s", secret, s)
			}
		}
	}
	if denied != 1 {
		t.Errorf("%d refused calls", denied)
	}
}

// The Action and the App are traced as "ycbot run" is, and name the change.
func TestTraceDoors(t *testing.T) {
	variants.Only(t) // TestTrace has one run
	t.Parallel()
	t.Run("action", func(t *testing.T) {
		t.Parallel()
		c, h := newCollector(t), newHosted(t, good)
		cmd := h.command(t, "pull_request", h.opened(), map[string]string{"sandbox": "none"}, "action")
		cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url)
		if s := ended(t, cmd); s.code > 2 {
			t.Fatal(s.log)
		}
		if _, attrs := c.span(t, "run"); attrs["ycbot.door"] != "action" || attrs["vcs.repository.name"] != "acme/sums" || attrs["vcs.change.id"] != fmt.Sprint(h.pull) {
			t.Errorf("the run: %v", attrs)
		}
		c.span(t, "stage gate")
	})
	t.Run("app", func(t *testing.T) {
		t.Parallel()
		c, h := newCollector(t), newInstalled(t)
		h.env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_BSP_SCHEDULE_DELAY=600000"}
		h.start(t)
		h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
		h.wait(t, "run has ended", "state=finished")
		h.end(t, syscall.SIGTERM)
		if _, attrs := c.span(t, "run"); attrs["ycbot.door"] != "app" || attrs["vcs.change.id"] != fmt.Sprint(h.pull) {
			t.Errorf("the run: %v", attrs)
		}
		c.span(t, "stage gate")
	})
}

// Without the variables, and with those that say no, nothing is sent; variables that cannot be
// followed are reported, and a collector that is gone costs no run.
func TestTraceOff(t *testing.T) {
	variants.Only(t) // TestTrace has one run
	t.Parallel()
	c := newCollector(t)
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	makeChange(t, repo, sumBase, sumHead)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, test := range []struct {
		name string
		env  []string
		says string
	}{
		{"disabled", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_SDK_DISABLED=true"}, ""},
		{"none", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_TRACES_EXPORTER=none"}, ""},
		{"not sampled", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0"}, ""},
		{"another exporter", []string{"OTEL_TRACES_EXPORTER=zipkin"}, `OTEL_TRACES_EXPORTER "zipkin": want otlp or none`},
		{"another protocol", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, `OTEL_EXPORTER_OTLP_PROTOCOL "grpc": want http/protobuf`},
		{"no one there", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + gone.URL, "OTEL_EXPORTER_OTLP_TIMEOUT=500"}, "traces"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cmd := realProgram(t, dir, "run", "-C", repo, "--sandbox", "none", "--no-model", "--out", t.TempDir()+"/out")
			cmd.Env = append(cmd.Env, test.env...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, _ := cmd.Output()
			if !strings.Contains(string(out), "\nVERDICT: ") || !strings.Contains(stderr.String(), test.says) {
				t.Errorf("it says\n%s\n%s", out, stderr.String())
			}
		})
	}
	t.Cleanup(func() {
		if len(c.spans) > 0 {
			t.Errorf("%d spans were sent", len(c.spans))
		}
	})
}
