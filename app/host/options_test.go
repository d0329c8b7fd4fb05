package host

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/internal/config"
)

// Who is listened to is the same for a worker as for a server: jobs of others that were stored before
// are not run.
func TestWorkersAllow(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"YCBOT_APP_ID": "1", "YCBOT_APP_PRIVATE_KEY": "key", "YCBOT_DATA": filepath.Join(t.TempDir(), "data"), "DATABASE_URL": "postgres://x/y",
		"YCBOT_ALLOW_REPOS": "acme/*, other/one", "YCBOT_ALLOW_INSTALLATIONS": "5,6",
	}
	getenv := func(name string) string { return env[name] }
	o := Options{Workers: 1, DiskQuota: Unset, DiskFree: Unset, RunDisk: Unset}
	if err := o.Read(getenv); err != nil {
		t.Fatal(err)
	}
	want := app.Allowed{Installations: []int64{5, 6}, Repositories: config.Repositories{Allow: []string{"acme/*", "other/one"}}}
	if diff := cmp.Diff(want, o.Allow); diff != "" {
		t.Error(diff)
	}
	env["YCBOT_ALLOW_REPOS"], env["YCBOT_ALLOW_INSTALLATIONS"] = "acme", "x"
	o = Options{Workers: 1, DiskQuota: Unset, DiskFree: Unset, RunDisk: Unset}
	if err := o.Read(getenv); err == nil || !strings.Contains(err.Error(), "YCBOT_ALLOW_REPOS") || !strings.Contains(err.Error(), "YCBOT_ALLOW_INSTALLATIONS") {
		t.Errorf("what is malformed is taken: %v", err)
	}
}
