package host

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Only the operator can have trusted heads executed below tier full, and no one the heads of
// strangers.
func TestRequirement(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		job   job.Job
		named string
		want  sandbox.Tier
	}{
		{job.Job{Trust: job.Trusted}, "auto", sandbox.TierFull},
		{job.Job{Trust: job.Trusted}, "", sandbox.TierFull},
		{job.Job{Trust: job.Trusted}, "none", sandbox.TierNone},
		{job.Job{Trust: job.Trusted, NeedsFull: true}, "none", sandbox.TierFull},
		{job.Job{Trust: job.Untrusted}, "none", sandbox.TierFull},
		{job.Job{}, "none", sandbox.TierFull},
	} {
		if got := requirement(test.job, test.named); got != test.want {
			t.Errorf("%s head, --sandbox %s: %s, want %s", test.job.Trust, test.named, got, test.want)
		}
	}
}

// That a recorded run cannot be concluded again is not tried again; what a run says is wrong with its settings
// may pass.
func TestNotConcludedAgain(t *testing.T) {
	t.Parallel()
	wrong := &rundir.UsageError{Err: errors.New("the recorded run is not intact")}
	for _, accept := range []bool{true, false} {
		var permanent *app.Permanent
		err := decided(job.Job{Accept: accept}, wrong)
		if !errors.Is(err, wrong) || errors.As(err, &permanent) != accept {
			t.Errorf("accepts %v: %#v", accept, err)
		}
	}
}

// What GitHub refuses is not tried again; a pull request that it does not find is, as it may be too new to be found.
func TestNotFoundIsLookedForAgain(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusNotFound: false, http.StatusConflict: false} {
		var permanent *app.Permanent
		err := unknown(fmt.Errorf("pull request: %w", &github.Error{Status: status}))
		if err == nil || errors.As(err, &permanent) != want {
			t.Errorf("%d: %#v", status, err)
		}
	}
}

// Where the operator wants no comments there is no answer, also to what is answered before the repository's
// configuration is read.
func TestNoAnswerWithoutComments(t *testing.T) {
	t.Parallel()
	asked := 0
	c := config.Default()
	c.Publish.Comment = config.CommentOff
	h := &jobHost{
		service: &service{o: &Options{}, m: machine.Machine{Now: time.Now}}, hub: &pullrun.GitHub{Below: c},
		comments: &commenter{mint: func() (*github.Client, error) { asked++; return nil, errors.New("a token is made") }},
	}
	if err := h.Reply(t.Context(), job.Job{Number: 3}, job.Skip{Code: job.CodeHelp, Number: 3}); err != nil || asked > 0 {
		t.Errorf("%v, %d tokens", err, asked)
	}
}

// What an earlier version recorded in another format cannot be concluded again.
func TestReadable(t *testing.T) {
	t.Parallel()
	for format := 1; format <= rundir.Format; format++ {
		dir := fmt.Sprintf("../../internal/recheck/testdata/runs/format%d", format)
		if got := (&jobHost{}).Readable(dir); got != (format == rundir.Format) {
			t.Errorf("%s can be concluded again: %v", dir, got)
		}
	}
}

// The App posts as the configuration says.
func TestPosting(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Publish = config.Publish{Comment: config.CommentNew, Check: true, Annotations: true}
	h := &jobHost{hub: &pullrun.GitHub{Config: c}}
	if got := h.posting(app.Assignment{}).Publish; got != c.Publish {
		t.Errorf("got %+v, want %+v", got, c.Publish)
	}
}
