package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/attack"
)

// leftInBasic are the attacks that tier basic does not stop. The list stands in
// docs/security.md, too; an attack that is stopped later must leave both.
var leftInBasic = []string{
	"A23", // TCP to another host
	"A24", // TCP to a service of the host
	"P08", // the same by another address
}

// TestAttacks runs the attacks of the threat study in every tier, as this user
// and, for root, as an ordinary one. Tier none shows that they are real ones.
func TestAttacks(t *testing.T) { //nolint:paralleltest // some attacks are on what the whole machine has: space, memory, processes
	if testing.Short() { // other programs do the work, and start ten times as slowly with the race detector
		t.Skip("-short")
	}
	users := []int{os.Geteuid()}
	if users[0] == 0 {
		users = append(users, strangerID)
	}
	for _, uid := range users {
		t.Run(fmt.Sprintf("uid %d", uid), func(t *testing.T) {
			tried := map[sandbox.Tier]map[string]attack.Verdict{}
			for _, mode := range []string{"none", bare, "basic", "full"} {
				detect(t, mode, nil)
				tried[sandbox.Tier(mode)] = attackAs(t, mode, uid)
			}
			rows := attack.Table(tried)
			open, real := map[sandbox.Tier][]string{}, 0
			var b strings.Builder
			for _, r := range rows {
				fmt.Fprintf(&b, "%s %-45s", r.ID, r.Name)
				for _, tier := range []sandbox.Tier{"none", bare, "basic", "full"} {
					fmt.Fprintf(&b, " %s %-14s", tier, r.Results[tier])
					if r.Results[tier] == attack.Open {
						open[tier] = append(open[tier], r.ID)
					}
				}
				b.WriteString("\n")
				if r.Results["none"] == attack.Open {
					real++
				}
			}
			t.Logf("\n%s", b.String())
			if diff := cmp.Diff([]string(nil), open["full"]); diff != "" {
				t.Errorf("full: %s", diff)
			}
			if diff := cmp.Diff(leftInBasic, open["basic"]); diff != "" {
				t.Errorf("basic: %s", diff)
			}
			if broken := append(attack.Broken(rows, "full"), attack.Broken(rows, "basic")...); len(broken) > 0 {
				t.Errorf("promised and not held: %q", broken)
			}
			if real < 35 {
				t.Errorf("only %d of %d attacks work at all", real, len(rows))
			}
		})
	}
}

// An attack that works is a promise broken, but where the tier never promised to
// stop it; one that fails in tier none, too, shows nothing.
func TestTableOfAttacks(t *testing.T) {
	t.Parallel()
	all := func(v attack.Verdict) map[string]attack.Verdict {
		out := map[string]attack.Verdict{}
		for _, r := range attack.Table(nil) {
			out[r.ID] = v
		}
		return out
	}
	none := all(attack.Open)
	none["A31"] = attack.Held
	full, basic := all(attack.Held), all(attack.Held)
	full["A16"], basic["A23"], basic["A11"] = attack.Open, attack.Open, attack.Open
	delete(full, "A48")
	rows := attack.Table(map[sandbox.Tier]map[string]attack.Verdict{"full": full, "basic": basic, "none": none})
	if diff := cmp.Diff([]string{"A16", "A48"}, attack.Broken(rows, "full")); diff != "" {
		t.Errorf("full: %s", diff)
	}
	if diff := cmp.Diff([]string{"A11"}, attack.Broken(rows, "basic")); diff != "" {
		t.Errorf("basic: %s", diff)
	}
	for _, r := range rows {
		if r.ID == "A31" && r.Results["full"] != attack.NotApplicable || r.ID == "A32" && r.Results["full"] != attack.Held {
			t.Errorf("%s: %s", r.ID, r.Results["full"])
		}
	}
}

const strangerID = 65534

// attackAs runs the suite in a process of its own, which has secrets.
func attackAs(t *testing.T, mode string, uid int) map[string]attack.Verdict {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} { // another user must get there
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(dir, "suite.test")
	copyProgram(t, exe)
	p := attack.Program{Self: []string{exe, attackName}, Shim: []string{exe, shimName}, Path: systemPath}
	tier := mode
	if mode == bare {
		tier, p.Shim = "basic", nil
	}
	var log bytes.Buffer
	verdicts, err := attack.Try(t.Context(), p, tier, dir, uid, &log)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s as %d:\n%s", mode, uid, &log)
	return verdicts
}
