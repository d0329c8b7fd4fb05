package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// GitHub's own examples of all its events: each is an event or ignored, none is
// malformed, old and odd ones included.
func TestWebhookExamples(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../test/node_modules/@octokit/webhooks-examples/api.github.com/index.json")
	if err != nil {
		t.Skip("webhook examples: needs npm (make test installs them)")
	}
	var events []struct {
		Name     string
		Examples []json.RawMessage
	}
	if err := json.Unmarshal(raw, &events); err != nil {
		t.Fatal(err)
	}
	payloads, got := 0, map[string]int{}
	for _, of := range events {
		for i, body := range of.Examples {
			payloads++
			e, err := Parse(of.Name, "d", body)
			switch {
			case errors.Is(err, ErrIgnored):
				continue
			case err != nil:
				t.Errorf("%s#%d: %v", of.Name, i, err)
				continue
			}
			checkEvent(t, e)
			sha := ""
			switch {
			case e.Pull != nil:
				sha = e.Pull.Head.SHA
			case e.CheckRun != nil:
				sha = e.CheckRun.HeadSHA
			}
			got[fmt.Sprintf("%s %s %s/%d number %d issue %d head %.7s", of.Name, e.Action, e.Repo.FullName(), e.Repo.ID, e.Number, e.Issue, sha)]++
		}
	}
	if len(events) != 58 || payloads != 329 {
		t.Errorf("%d events, %d payloads; want 58, 329", len(events), payloads)
	}
	if diff := cmp.Diff(wantExamples, got); diff != "" {
		t.Error(diff)
	}
}

// wantExamples counts the examples that are events, by what was read.
var wantExamples = map[string]int{
	"check_run requested_action electron/electron/9384267 number 26764 issue 0 head 5bd5f19":       1,
	"check_run rerequested github/hello-world/526 number 0 issue 0 head d6fde92":                   2,
	"check_suite rerequested Codertocat/Hello-World/186853002 number 2 issue 0 head ec26c3e":       2,
	"installation created //0 number 0 issue 0 head ":                                              2,
	"installation deleted //0 number 0 issue 0 head ":                                              2,
	"installation suspend //0 number 0 issue 0 head ":                                              1,
	"installation unsuspend //0 number 0 issue 0 head ":                                            1,
	"installation_repositories added //0 number 0 issue 0 head ":                                   2,
	"installation_repositories removed //0 number 0 issue 0 head ":                                 1,
	"issue_comment created Codertocat/Hello-World/186853002 number 0 issue 1 head ":                5,
	"issue_comment edited Codertocat/Hello-World/186853002 number 0 issue 1 head ":                 2,
	"merge_group checks_requested octo-org/octo-repo/17273051 number 0 issue 0 head ":              2,
	"pull_request labeled Codertocat/Hello-World/186853002 number 2 issue 0 head ec26c3e":          2,
	"pull_request opened Codertocat/Hello-World/186853002 number 2 issue 0 head ec26c3e":           4,
	"pull_request ready_for_review Codertocat/Hello-World/186853002 number 2 issue 0 head ec26c3e": 3,
	"pull_request reopened Codertocat/Hello-World/186853002 number 2 issue 0 head ec26c3e":         2,
	"pull_request synchronize Codertocat/Hello-World/186853002 number 2 issue 0 head ec26c3e":      1,
	"workflow_dispatch  octo-org/octo-repo/17273051 number 0 issue 0 head ":                        1,
	"workflow_dispatch  octo-org/octo-repo/6811672 number 0 issue 0 head ":                         1,
	"workflow_run completed Codertocat/Hello-World/283462325 number 0 issue 0 head ":               1,
	"workflow_run completed octo-org/octo-repo/300029405 number 0 issue 0 head ":                   2,
}
