package host

import (
	"testing"

	"github.com/ycbot/ycbot/action"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/pullrun"
)

// A step posts as the configuration says, and inputs come before it.
func TestPosting(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Publish = config.Publish{Comment: config.CommentNew, Check: true, Annotations: true}
	h := &Host{GitHub: &pullrun.GitHub{Config: c}}
	if got := h.posting(job.Job{}, "r").Publish; got != c.Publish {
		t.Errorf("got %+v, want %+v", got, c.Publish)
	}
	h.Inputs = action.Inputs{Comment: "off", Check: new(bool)}
	if got, want := h.posting(job.Job{}, "r").Publish, (config.Publish{Comment: config.CommentOff, Annotations: true}); got != want {
		t.Errorf("with inputs: got %+v, want %+v", got, want)
	}
}
