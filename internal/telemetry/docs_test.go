package telemetry_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ycbot/ycbot/internal/telemetry"
)

// families are the names of all metrics that a process has, whether they have moved or not.
func families(t *testing.T) []string {
	t.Helper()
	m := telemetry.NewMetrics("v1", clock())
	m.Queue(func(context.Context) (telemetry.Jobs, error) { return telemetry.Jobs{}, nil })
	m.Disk(func() telemetry.Disk { return telemetry.Disk{} })
	c, ok := m.Gatherer().(prometheus.Collector)
	if !ok {
		t.Fatal("the registry does not list its metrics")
	}
	ch := make(chan *prometheus.Desc)
	go func() { defer close(ch); c.Describe(ch) }()
	name := regexp.MustCompile(`fqName: "(\w+)"`)
	var out []string
	for d := range ch {
		out = append(out, name.FindStringSubmatch(d.String())[1])
	}
	return out
}

// metricWord finds names of metrics in queries and texts.
var metricWord = regexp.MustCompile(`\b(ycbot|process|go)_[a-z_]+[a-z]\b`)

// exists reports whether a name is that of a metric, or of a part of a histogram.
func exists(all []string, name string) bool {
	for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && slices.Contains(all, base) {
			return true
		}
	}
	return false
}

// Every metric that the dashboard and the alerts ask for is there, and every metric of
// ycbot's own is in the dashboard and in the table of docs/operate.md.
func TestDashboard(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query any } }
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	all := families(t)
	shown := map[string]bool{}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d %s: its id is taken, or it asks for nothing", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %s lies over %s, or beyond the border", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			names := metricWord.FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("panel %s: no metric in %s", p.Title, target.Expr)
			}
			for _, name := range names {
				if !exists(all, name) {
					t.Errorf("panel %s: there is no metric %s", p.Title, name)
				}
				shown[name] = true
			}
		}
	}
	doc, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if !strings.HasPrefix(name, "ycbot_") {
			continue
		}
		if !strings.Contains(string(doc), "| `"+name) {
			t.Errorf("docs/operate.md does not have %s", name)
		}
		if !shown[name] && !shown[name+"_bucket"] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
	for _, name := range metricWord.FindAllString(string(doc), -1) {
		if !exists(all, name) {
			t.Errorf("docs/operate.md has %s, which does not exist", name)
		}
	}
}
