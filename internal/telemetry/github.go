package telemetry

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// GitHub returns a transport that counts what goes through next, of an installation (0:
// of the App itself).
func (m *Metrics) GitHub(next http.RoundTripper, installation int64) http.RoundTripper {
	if m == nil {
		return next
	}
	if next == nil {
		next = http.DefaultTransport
	}
	return &counted{m: m, next: next, installation: installation}
}

type counted struct {
	m            *Metrics
	next         http.RoundTripper
	installation int64
}

// RoundTrip implements [http.RoundTripper].
func (c *counted) RoundTrip(req *http.Request) (*http.Response, error) {
	began := c.m.now()
	resp, err := c.next.RoundTrip(req)
	c.m.githubTime.Observe(c.m.now().Sub(began).Seconds())
	if err != nil {
		c.m.github.WithLabelValues("none").Inc()
		return resp, err
	}
	c.m.github.WithLabelValues(class(resp.StatusCode)).Inc()
	c.m.githubLimits.saw(c.installation, resp.Header)
	return resp, nil
}

// limits collects how many requests GitHub still takes: each installation has a limit
// of its own, and the least of what they have left is shown.
type limits struct {
	now  func() time.Time
	desc *prometheus.Desc

	mu   sync.Mutex
	left map[limitKey]limit
}

type limitKey struct {
	installation int64
	resource     string
}

type limit struct {
	remaining int
	seen      time.Time
}

func newLimits(now func() time.Time) *limits {
	return &limits{
		now: now, left: map[limitKey]limit{},
		desc: prometheus.NewDesc("ycbot_github_rate_limit_remaining", "Requests that GitHub still takes in the current hour, of the installation that has least left.", []string{"resource"}, nil),
	}
}

func (l *limits) saw(installation int64, h http.Header) {
	remaining, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	l.left[limitKey{installation, among(h.Get("X-RateLimit-Resource"), "core search graphql")}] = limit{remaining, l.now()}
}

// limitTime is how long GitHub counts; what was left before is full again then.
const limitTime = time.Hour

// forget drops what is over.
func (l *limits) forget() {
	now := l.now()
	for key, have := range l.left {
		if now.Sub(have.seen) >= limitTime {
			delete(l.left, key)
		}
	}
}

// Describe implements [prometheus.Collector].
func (l *limits) Describe(ch chan<- *prometheus.Desc) { ch <- l.desc }

// Collect implements [prometheus.Collector].
func (l *limits) Collect(ch chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	least := map[string]int{}
	for key, have := range l.left {
		if n, ok := least[key.resource]; !ok || have.remaining < n {
			least[key.resource] = have.remaining
		}
	}
	for resource, n := range least {
		ch <- prometheus.MustNewConstMetric(l.desc, prometheus.GaugeValue, float64(n), resource)
	}
}
