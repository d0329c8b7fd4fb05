package pullrun

import (
	"testing"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A stranger's head wants tier full unless the operator names a weaker one, which has no
// say where the job has secrets.
func TestRequirement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		job   job.Job
		named string
		want  sandbox.Tier
	}{
		{job.Job{Trust: job.Untrusted}, "", sandbox.TierFull},
		{job.Job{Trust: job.Untrusted}, "auto", sandbox.TierFull},
		{job.Job{Trust: job.Untrusted}, "basic", sandbox.TierBasic},
		{job.Job{Trust: job.Untrusted, NeedsFull: true}, "none", sandbox.TierFull},
		{job.Job{}, "auto", sandbox.TierFull},
		{job.Job{Trust: job.Trusted}, "auto", sandbox.TierBasic},
		{job.Job{Trust: job.Trusted}, "none", sandbox.TierNone},
	} {
		if got := Requirement(tt.job, tt.named); got != tt.want {
			t.Errorf("%+v, --sandbox %s: %s, want %s", tt.job, tt.named, got, tt.want)
		}
	}
}
