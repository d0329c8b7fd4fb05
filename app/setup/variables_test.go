package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A name that ycbot does not read is an error in a settings file, in its line and with the
// name that was likely meant, and said of an environment; those that a cluster sets are not.
func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	_, err := ParseSettings("YCBOT_APP_ID=1\n# YCBOT_X=1\nYCBOT_LOGN=\"required\"\nYCBOT_WEBHOOK_SECRT=x\nYCBOT_COLOUR=red\nOTHER=1\n")
	want := "line 3: ycbot reads no variable YCBOT_LOGN; did you mean YCBOT_LOGIN?\n" +
		"line 4: ycbot reads no variable YCBOT_WEBHOOK_SECRT; did you mean YCBOT_WEBHOOK_SECRET?\n" +
		"line 5: ycbot reads no variable YCBOT_COLOUR"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
	got := UnknownIn([]string{
		"PATH=/bin", "YCBOT_LOGIN=required", "YCBOT_LOGN=required", "YCBOT_LOGN=again", "XYCBOT_LOGN=1", // and of Services "ycbot" and "ycbot-server":
		"YCBOT_SERVICE_HOST=10.0.0.1", "YCBOT_SERVICE_PORT=80", "YCBOT_PORT=tcp://10.0.0.1:80", "YCBOT_PORT_80_TCP_ADDR=10.0.0.1", "YCBOT_SERVER_SERVICE_PORT_HTTP=80", "YCBOT_SERVER_PORT_80_TCP=x",
	})
	if diff := cmp.Diff([]string{"ycbot reads no variable YCBOT_LOGN; did you mean YCBOT_LOGIN?"}, got); diff != "" {
		t.Error(diff)
	}
}

// notRead are the names in the sources that ycbot sets for commands, or tests read.
var notRead = []string{"YCBOT_BASE", "YCBOT_SCRATCH"}

// The variables that are known are those that stand in the sources, and the docs name them.
func TestVariables(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`\bYCBOT_[A-Z]+(_[A-Z]+)*\b`)
	found := map[string]bool{}
	var docs strings.Builder
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(path, "test") || strings.HasPrefix(path, "internal/testing") || d.Name() == "testdata" || len(path) > 1 && path[0] == '.') {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		source := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && path != "app/setup/variables.go"
		page := filepath.Dir(path) == "docs" && strings.HasSuffix(path, ".md")
		if d.IsDir() || !source && !page && path != "action/install.sh" && path != "Dockerfile" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			return err
		}
		if page {
			docs.Write(text)
			return nil
		}
		for _, n := range name.FindAllString(string(text), -1) {
			found[n] = found[n] || !slices.Contains(notRead, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for n, read := range found {
		if read {
			have = append(have, n)
		}
	}
	slices.Sort(have)
	if diff := cmp.Diff(have, variables); diff != "" {
		t.Errorf("(-read +known)\n%s", diff)
	}
	for _, n := range variables {
		if !strings.Contains(docs.String(), n) && n != "YCBOT_RELEASES_PROTO" { // which only tests set
			t.Errorf("the docs do not name %s", n)
		}
	}
}
