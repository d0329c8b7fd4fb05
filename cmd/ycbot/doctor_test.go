package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/app/setup"
	"github.com/ycbot/ycbot/internal/doctor"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// A visit is what the doctor said.
type visit struct {
	code   int
	text   string
	Schema string
	OK     bool
	Checks []doctor.Finding
}

// visit has the doctor look at a machine with these variables.
func visitDoctor(t *testing.T, env []string, args ...string) visit {
	t.Helper()
	cmd := realProgram(t, t.TempDir(), append([]string{"doctor", "--json"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.Output()
	v := visit{code: cmd.ProcessState.ExitCode(), text: string(out)}
	if jsonErr := json.Unmarshal(out, &v); jsonErr != nil {
		t.Fatalf("%v (%v)\n%s", jsonErr, err, out)
	}
	if v.Schema != "ycbot.doctor/v1" || v.OK != (v.code == 0) {
		t.Errorf("schema %q, ok %v with exit code %d", v.Schema, v.OK, v.code)
	}
	return v
}

// has checks that a line of an area says so, and what to do where it is not well.
func (v visit) has(t *testing.T, area string, status doctor.Health, text string) {
	t.Helper()
	for _, s := range v.Checks {
		if s.Area == area && s.Status == status && strings.Contains(s.Text, text) {
			if status == doctor.Issue && s.Todo == "" {
				t.Errorf("%s: %s: it does not say what to do", area, s.Text)
			}
			return
		}
	}
	t.Errorf("%s has no line %s %q in\n%s", area, status, text, v.text)
}

// todo checks that something in an area is to be done, in these words.
func (v visit) todo(t *testing.T, area, text string) {
	t.Helper()
	for _, s := range v.Checks {
		if s.Area == area && strings.Contains(s.Todo, text) {
			return
		}
	}
	t.Errorf("%s does not say to do %q in\n%s", area, text, v.text)
}

// The provider is asked; a key that it refuses is an issue, and is not printed even where
// the provider says it back.
func TestDoctorProvider(t *testing.T) {
	t.Parallel()
	const scenario = "-- model --\nready\n"
	e := newEndpoint(t, providerKey, scenario)
	env := []string{"YCBOT_MODEL=m", "YCBOT_BASE_URL=" + e.url, "YCBOT_API_KEY=" + providerKey}
	v := visitDoctor(t, env, "-C", t.TempDir(), "--sandbox", "none")
	v.has(t, "provider", doctor.OK, "with a key")
	v.has(t, "provider", doctor.OK, "m answers (")
	v.has(t, "provider", doctor.Warning, "price of m is not known")
	if v.code != 0 || len(e.probed) != 1 {
		t.Errorf("exit code %d after %d requests", v.code, len(e.probed))
	}
	e = newEndpoint(t, providerKey, scenario, "401")
	env[1] = "YCBOT_BASE_URL=" + e.url
	v = visitDoctor(t, env, "-C", t.TempDir(), "--sandbox", "none")
	v.has(t, "provider", doctor.Issue, "refused the key")
	v.todo(t, "provider", "the key that was given, which takes precedence over OPENAI_API_KEY")
	if v.code != 1 || strings.Contains(v.text, providerKey) {
		t.Errorf("exit code %d; %s", v.code, v.text)
	}
	v = visitDoctor(t, env, "--offline", "-C", t.TempDir(), "--sandbox", "none")
	v.has(t, "provider", doctor.Skipped, "not asked")
	v = visitDoctor(t, []string{env[0], "OPENAI_BASE_URL=" + e.url, "OPENAI_API_KEY=" + providerKey}, "-C", t.TempDir(), "--sandbox", "none")
	v.has(t, "provider", doctor.OK, "with a key from OPENAI_API_KEY")
	v.todo(t, "provider", "check the key in OPENAI_API_KEY;")
	v = visitDoctor(t, []string{"YCBOT_MODEL=gpt-5"}, "-C", t.TempDir(), "--sandbox", "none")
	v.has(t, "provider", doctor.Issue, "there is no key")
	v = visitDoctor(t, []string{"OPENAI_API_KEY=" + providerKey}, "-C", t.TempDir(), "--sandbox", "none")
	v.has(t, "provider", doctor.Warning, "there is a key for openai, and no model is named")
	v.todo(t, "provider", "set YCBOT_MODEL")
	v = visitDoctor(t, []string{"YCBOT_PROVIDER=openai:grpc", "YCBOT_MODEL=m"}, "-C", t.TempDir(), "--sandbox", "none")
	v.has(t, "provider", doctor.Issue, "it speaks chat, responses")
	v = visitDoctor(t, []string{"YCBOT_PERMISSIONS=/nowhere/rules.json"}, "-C", t.TempDir(), "--sandbox", "none")
	v.has(t, "policy", doctor.Issue, "permission file of YCBOT_PERMISSIONS: open /nowhere/rules.json")
}

// GitHub says whose the token is and what it may do with the repository here.
func TestDoctorGitHub(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	dir := filepath.Join(t.TempDir(), "repo")
	makeChange(t, dir, sumBase, sumHead)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "remote", "add", "origin", "https://github.com/"+h.repo.String()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	look := func(token string) visit {
		v := visitDoctor(t, []string{"GITHUB_TOKEN=" + token, "GITHUB_API_URL=" + h.URL}, "-C", dir, "--sandbox", "none")
		if strings.Contains(v.text, token) {
			t.Errorf("the token is printed: %s", v.text)
		}
		return v
	}
	v := look(h.Token("alice", nil, "personal"))
	v.has(t, "github", doctor.OK, "the token is of alice")
	v.has(t, "github", doctor.OK, "acme/sums: write")
	v.has(t, "git", doctor.OK, "acme/sums")
	v.has(t, "config", doctor.OK, "is valid")
	v.has(t, "toolchains", doctor.OK, "names the commands")
	look(h.Token("bob", nil, "personal")).has(t, "github", doctor.Warning, "acme/sums: read")
	look(h.Token("mallory", nil, "personal")).has(t, "github", doctor.Warning, "does not see acme/sums")
	look(h.token).has(t, "github", doctor.OK, "acme/sums can be read")
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "remote", "set-url", "origin", "git@gitlab.com:"+h.repo.String()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	look(h.Token("alice", nil, "personal")).has(t, "github", doctor.Warning, "origin is on gitlab.com, which is not asked")
	v = look("ghp_nobodysToken0123456789")
	v.has(t, "github", doctor.Issue, "refuses the token")
	if v.code != 1 {
		t.Errorf("exit code %d", v.code)
	}
}

// The App's settings are compared with what GitHub has of them, and its server is asked.
func TestDoctorApp(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	app := s.AddApp(7, "ycbot")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	env := []string{"YCBOT_APP_ID=7", "YCBOT_APP_PRIVATE_KEY=" + string(app.Key), "YCBOT_WEBHOOK_SECRET=0123456789abcdef0123", "YCBOT_GITHUB_URL=" + s.URL, "YCBOT_PUBLIC_URL=" + server.URL}
	look := func(env []string) visit { return visitDoctor(t, env, "-C", t.TempDir(), "--sandbox", "none") }

	v := look(env)
	v.has(t, "app", doctor.Issue, "lacks checks: write, contents: read, event check_run,")
	v.has(t, "app", doctor.OK, "a server answers")

	s.Ask(app, setup.Permissions(), setup.Events())
	v = look(env)
	v.has(t, "app", doctor.OK, "GitHub knows it as ycbot, with the permissions and events")
	if v.code != 0 || strings.Contains(v.text, "PRIVATE KEY") || strings.Contains(v.text, "0123456789abcdef") {
		t.Errorf("exit code %d\n%s", v.code, v.text)
	}
	env[0] = "YCBOT_APP_ID=8"
	look(env).has(t, "app", doctor.Issue, "GitHub does not know App 8")
	look(env[:2]).has(t, "app", doctor.Issue, "YCBOT_WEBHOOK_SECRET is not set")
	worker := slices.Concat(env[:2], env[3:], []string{"DATABASE_URL=postgres://ycbot@127.0.0.1:1/ycbot"})
	look(worker).has(t, "app", doctor.Warning, "there is no webhook secret")
}

// The doctor looks at what the server needs besides: a folder to write to, and a database
// that takes deliveries.
func TestDoctorAppData(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	app := s.AddApp(7, "ycbot")
	s.Ask(app, setup.Permissions(), setup.Events())
	data := t.TempDir()
	look := func(env ...string) visit {
		env = append([]string{"YCBOT_APP_ID=7", "YCBOT_APP_PRIVATE_KEY=" + string(app.Key), "YCBOT_WEBHOOK_SECRET=0123456789abcdef0123", "YCBOT_GITHUB_URL=" + s.URL, "YCBOT_DATA=" + data}, env...)
		return visitDoctor(t, env, "-C", t.TempDir(), "--sandbox", "none")
	}
	v := look()
	v.has(t, "app", doctor.OK, "data of the App: "+data)
	v.has(t, "app", doctor.OK, "the server creates "+filepath.Join(data, "ycbot.db"))
	write(t, filepath.Join(data, "file"), "")
	look("YCBOT_DATA="+filepath.Join(data, "file")).has(t, "app", doctor.Issue, "is not a folder")
	look("YCBOT_BLOB_URL=file://"+data+"/blobs").has(t, "app", doctor.OK, "outputs of runs: "+data+"/blobs")
	look("YCBOT_BLOB_URL=file://"+data+"/file").has(t, "app", doctor.Issue, "outputs of runs: "+data+"/file is not a folder")
	v = look("DATABASE_URL=postgres://ycbot:hunter2-of-the-database@127.0.0.1:1/ycbot")
	v.has(t, "app", doctor.Issue, "database: ")
	if v.code != 1 || strings.Contains(v.text, "hunter2") {
		t.Errorf("exit code %d\n%s", v.code, v.text)
	}
	write(t, filepath.Join(data, "ycbot.db"), strings.Repeat("this is no database\n", 1000))
	look().has(t, "app", doctor.Issue, "database: ")
}

// A worker without the database of a server would wait for jobs for ever.
func TestAppWorkNeedsDatabase(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	app := s.AddApp(7, "ycbot")
	data := filepath.Join(t.TempDir(), "data")
	cmd := realProgram(t, t.TempDir(), "app", "work", "--data", data)
	cmd.Env = append(cmd.Env, "YCBOT_APP_ID=7", "YCBOT_APP_PRIVATE_KEY="+string(app.Key), "YCBOT_GITHUB_URL="+s.URL)
	out, _ := cmd.CombinedOutput() // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(out), "DATABASE_URL is not set") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("it made a folder all the same")
	}
}
