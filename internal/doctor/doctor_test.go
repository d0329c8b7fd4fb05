package doctor

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/machine"
)

// A machine without anything has a finding in each area, in their order; a setting that is
// wrong is an issue, on one line and without a secret that it holds.
func TestExamine(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const secret = "s3cret-of-the-database"
	in := Input{
		Machine: machine.Machine{
			Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "YCBOT_HOME=" + filepath.Join(home, "own"), "DATABASE_PASSWORD=" + secret},
			Now: time.Now, Client: http.DefaultClient, Log: slog.New(slog.DiscardHandler),
		},
		Dir: t.TempDir(), Sandbox: "none", Offline: true,
	}
	found, err := Examine(t.Context(), in)
	if err != nil || !Healthy(found) {
		t.Fatalf("%v\n%s", err, Text(found))
	}
	var areas []string
	for _, f := range found {
		areas = append(areas, f.Area)
	}
	if got := slices.Compact(areas); !slices.Equal(got, []string{"provider", "github", "app", "git", "sandbox", "policy", "agents", "config", "toolchains", "state"}) {
		t.Errorf("areas %q", got)
	}

	in.App = &App{Wrong: errors.New("the password " + secret + "\nis of no use")}
	found, err = Examine(t.Context(), in)
	text := Text(found)
	if err != nil || Healthy(found) || strings.Contains(text, secret) || !strings.Contains(text, "2 issues, ") {
		t.Errorf("%v\n%s", err, text)
	}
	out, err := JSON(found, "v1", "linux/amd64")
	if err != nil || !strings.Contains(string(out), `"ok": false`) || strings.Contains(string(out), secret) {
		t.Errorf("%v\n%s", err, out)
	}

	in.App = nil
	for _, wrong := range []string{
		"YCBOT_ROUTER=sideways", "YCBOT_MODEL_IDLE=soon", "YCBOT_PRICES=" + filepath.Join(home, "none.json"), "YCBOT_EXEC=all", "YCBOT_EFFORT=much",
		"YCBOT_SETUP_ENV=NPM_TOKEN", "YCBOT_FETCH_HOSTS=http://x",
	} {
		bad := in
		bad.Machine.Env = append(slices.Clone(in.Machine.Env), wrong)
		found, err := Examine(t.Context(), bad)
		name, _, _ := strings.Cut(wrong, "=")
		if err != nil || Healthy(found) || !strings.Contains(Text(found), name) {
			t.Errorf("%s: %v\n%s", wrong, err, Text(found))
		}
	}

	for name, text := range map[string]string{"config.yml": "version: 1\nlimits: {timout: 5m}\n", "hooks.json": "{}"} { // which anyone can write
		bad, own := in, t.TempDir()
		bad.Machine.Env = append(slices.Clone(in.Machine.Env), "YCBOT_HOME="+own)
		file := filepath.Join(own, name)
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chmod(file, 0o666)); err != nil {
			t.Fatal(err)
		}
		found, err := Examine(t.Context(), bad)
		if err != nil || Healthy(found) || !strings.Contains(Text(found), file) {
			t.Errorf("%s: %v\n%s", name, err, Text(found))
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Examine(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
