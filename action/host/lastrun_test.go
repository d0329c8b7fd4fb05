package host

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/pullrun"
)

// The last run is asked for where the head is trusted, and not where /verify full says that a
// run begins again.
func TestLastRunIsAskedFor(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"total_count": 0, "artifacts": []}`))
	}))
	t.Cleanup(server.Close)
	client, err := github.New(github.Options{BaseURL: server.URL, Token: "t", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{GitHub: &pullrun.GitHub{Client: client, Repo: github.Repo{Owner: "o", Name: "r"}, Pull: &github.Snapshot{}}}
	for _, tt := range []struct {
		job  job.Job
		want int
	}{{job.Job{Trust: job.Trusted}, 1}, {job.Job{Trust: job.Trusted, Full: true}, 0}, {job.Job{Trust: job.Untrusted}, 0}} {
		asked = 0
		if last, err := h.lastRun(t.Context(), tt.job, t.TempDir()); last != "" || err != nil || asked != tt.want {
			t.Errorf("%+v: %q, %v, asked %d times", tt.job, last, err, asked)
		}
	}
}
