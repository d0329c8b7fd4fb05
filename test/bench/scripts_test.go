package bench_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// asset is the file of a release for this machine.
const asset = "ycbot-" + runtime.GOOS + "-" + runtime.GOARCH + ".gz"

// An install is a machine to install on: what a stand-in for curl serves, and
// whether Go is there.
type install struct {
	files   map[string]string // name in the release to text; nil: there is no release
	release string            // what the action's tree names; empty: none
	owner   string            // of the action, and its name; empty: ycbot/ycbot
	gh      string            // a stand-in for gh; empty: there is none
	noGo    bool
	noCurl  bool
}

// run runs action/install.sh and returns the program that it found, and the log.
func (in install) run(t *testing.T) (bin, log string, err error) {
	t.Helper()
	dir := t.TempDir()
	programs, temp, output := filepath.Join(dir, "programs"), filepath.Join(dir, "temp"), filepath.Join(dir, "output")
	owner := cmp.Or(in.owner, "ycbot/ycbot")
	path := filepath.Join(dir, "_actions", filepath.FromSlash(owner), strings.Repeat("a", 40))
	for _, d := range []string{programs, temp, filepath.Join(dir, "release"), filepath.Join(path, "action")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(output, "")
	write(filepath.Join(path, "action", "release"), in.release+"\n")
	if in.gh != "" {
		write(filepath.Join(programs, "gh"), "#!/bin/sh\n"+in.gh+"\n")
	}
	for name, text := range in.files {
		write(filepath.Join(dir, "release", name), text)
	}
	// curl … -o TO URL
	curl := filepath.Join(programs, "curl")
	if in.noCurl {
		curl = filepath.Join(dir, "curl")
	}
	write(curl, `#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -o ] && to=$2; shift; done
echo "asked $1" >>`+dir+`/asked
case $1 in https://github.com/ycbot/ycbot/releases/download/v1.2.3/*) ;; https://github.com/octo/ycbot/releases/download/v1.2.3/*) ;; *) exit 22 ;; esac
cp "`+dir+`/release/${1##*/}" "$to" 2>/dev/null && exit
echo "curl: (22) The requested URL returned error: 404" >&2
exit 22
`)
	if !in.noGo {
		write(filepath.Join(programs, "go"), "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && printf '#!/bin/sh\\n# built\\n' >\"$2\"; shift; done\nif [ \"$GOTOOLCHAIN\" = local ] && [ \"$1\" != version ]; then exit 1; fi\n")
	}
	for _, name := range strings.Fields("bash env mkdir mv chmod cp cut awk uname tr sha256sum shasum sleep gzip find sort xargs cat head tail rm") {
		if real, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(real, filepath.Join(programs, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	script, err := filepath.Abs("../../action/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, step := range [][]string{{script, "find"}, {script}} {
		cmd := exec.CommandContext(t.Context(), "bash", step...)
		cmd.Env = []string{
			"PATH=" + programs, "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + output, "GITHUB_ACTION_PATH=" + path,
			"ACTION_REPOSITORY=another/action", "GH_TOKEN=t", "GOTOOLCHAIN=local",
		}
		var said []byte
		said, err = cmd.CombinedOutput()
		out = append(out, said...)
		if err != nil {
			break
		}
	}
	named, readErr := os.ReadFile(output)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if _, found, ok := strings.Cut(string(named), "bin="); ok {
		program, readErr := os.ReadFile(strings.TrimSpace(found))
		if readErr != nil {
			t.Fatal(readErr)
		}
		bin = string(program)
	}
	return bin, string(out), err
}

// TestInstall holds that the program of a release is taken where the action's tree names
// it, at a tag as at a commit id, and only if it is what the release and GitHub's
// provenance say, and is built in all other cases but one: a program that is not what it
// should be ends the step.
func TestInstall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the action runs on Linux")
	}
	const released, built = "#!/bin/sh\n# released\n", "#!/bin/sh\n# built\n"
	compressed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	sum := sha256.Sum256([]byte(compressed(released)))
	sums := hex.EncodeToString(sum[:]) + "  " + asset + "\n"
	good := map[string]string{"SHA256SUMS": sums, asset: compressed(released)}
	for _, test := range []struct {
		name string
		in   install
		want string
		says string
	}{
		{"release", install{files: good, release: "v1.2.3"}, released, "release v1.2.3"},
		{"release, and no Go", install{files: good, release: "v1.2.3", noGo: true}, released, "provenance not checked"},
		{"provenance", install{files: good, release: "v1.2.3", gh: "exit 0"}, released, "says GitHub's attestation"},
		{"no provenance", install{files: good, release: "v1.2.3", gh: `[ "$2" != verify ]`}, "", "no build provenance"},
		{"an old gh", install{files: good, release: "v1.2.3", gh: "exit 1"}, released, "provenance not checked"},
		{"of a copy of the action", install{files: good, release: "v1.2.3", owner: "octo/ycbot"}, released, "release v1.2.3 of octo/ycbot"},
		{
			"no such release",
			install{release: "v1.2.3"},
			built,
			"::warning title=ycbot::SHA256SUMS of release v1.2.3 of ycbot/ycbot cannot be downloaded (curl: (22) The requested URL returned error: 404); YCBOT_RELEASES names a mirror\n",
		},
		{"no such release, and no Go", install{release: "v1.2.3", noGo: true}, "", "YCBOT_RELEASES names a mirror, and there is no Go to build it with: put actions/setup-go before the action\n"},
		{"another release", install{files: good, release: "v1.2.4"}, built, "built from source"},
		{
			"a release without this machine",
			install{files: map[string]string{"SHA256SUMS": "00  other\n"}, release: "v1.2.3"},
			built,
			"ycbot: release v1.2.3 of ycbot/ycbot has no " + asset + " for this machine: compiling it",
		},
		{"no curl", install{files: good, release: "v1.2.3", noGo: true, noCurl: true}, "", "::error title=ycbot::there is no curl to fetch release v1.2.3 of ycbot/ycbot with, and there is no Go"},
		{"a commit between releases", install{files: good}, built, "no release belongs to this commit"},
		{"a name that is no version", install{files: good, release: "v1.2.3/../v9"}, built, "built"},
		{"forged", install{files: map[string]string{"SHA256SUMS": sums, asset: compressed("forged")}, release: "v1.2.3"}, "", "it is not run"},
		{"incomplete", install{files: map[string]string{"SHA256SUMS": sums}, release: "v1.2.3"}, "", "cannot be downloaded"},
		{"no Go", install{noGo: true}, "", "actions/setup-go"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bin, log, err := test.in.run(t)
			if bin != test.want || (err == nil) != (test.want != "") || !strings.Contains(log, test.says) {
				t.Errorf("got %q (%v), want %q and the message %q:\n%s", bin, err, test.want, test.says, log)
			}
		})
	}
}

// TestInstallTwice holds that a job that uses the action at two commits has the program of each.
func TestInstallTwice(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the action runs on Linux")
	}
	dir := t.TempDir()
	// A compiler whose programs say which commit they are of.
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("go", "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -C ] && of=$2; [ \"$1\" = -o ] && to=$2; shift; done\n[ -z \"$to\" ] || { printf '#!/bin/sh\\necho %s\\n' \"${of##*/}\" >\"$to\"; chmod 755 \"$to\"; }\n")
	write("curl", "#!/bin/sh\nexit 22\n")
	dirs := map[string]bool{}
	for _, commit := range []string{"one", "two"} {
		path, output := filepath.Join(dir, "_actions", "ycbot", "ycbot", commit), filepath.Join(dir, "output-"+commit)
		if err := os.MkdirAll(filepath.Join(path, "cmd", "ycbot"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join("_actions", "ycbot", "ycbot", commit, "cmd", "ycbot", "build.flags"), "")
		for _, step := range [][]string{{"../../action/install.sh", "find"}, {"../../action/install.sh"}} {
			cmd := exec.CommandContext(t.Context(), "bash", step...)
			cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + output, "GITHUB_ACTION_PATH=" + path}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		text, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		_, program, _ := strings.Cut(string(text), "bin=")
		out, err := exec.CommandContext(t.Context(), strings.TrimSpace(program)).Output()
		if err != nil || string(out) != commit+"\n" {
			t.Errorf("the program at %s says %q (%v)", commit, out, err)
		}
		_, kept, _ := strings.Cut(string(text), "dir=")
		kept, _, _ = strings.Cut(kept, "\n")
		if dirs[kept] || filepath.Dir(strings.TrimSpace(program)) != kept {
			t.Errorf("at %s %s is kept, and the program is %s", commit, kept, program)
		}
		dirs[kept] = true
	}
}

// TestMask holds that each line of a secret is masked, as the runner masks lines,
// and that nothing needs sudo where the sandbox needs no preparation.
func TestMask(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "bash", "../../action/prepare.sh")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SECRET_TOKEN=ghs_1", "SECRET_KEY=one%\n\ntwo", "SANDBOX=basic"}
	out, err := cmd.CombinedOutput()
	want := "::add-mask::ghs_1\n::add-mask::one%25\n::add-mask::two\nsandbox: basic needs no preparation\n"
	if err != nil || string(out) != want {
		t.Errorf("said %q (%v), want %q", out, err, want)
	}
}

// TestPrepare holds that one source of packages which cannot be read does not keep bubblewrap
// from being installed, and that one that is too old is called so.
func TestPrepare(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the action runs on Linux")
	}
	const works = "#!/bin/sh\ntrue\n"
	const old = "#!/bin/sh\ncase $1 in --version) echo bubblewrap 0.6.1 ;; --help) echo --tmpfs ;; *) echo Unknown option --size >&2; exit 1 ;; esac\n"
	for name, test := range map[string]struct {
		update, install string // of apt-get
		there           string // bubblewrap, from the beginning
		want            string
	}{
		"installed":         {"true", "", "", "sandbox: installing bubblewrap\nsandbox: bubblewrap was made to work\n"},
		"a broken source":   {"exit 100", "", "", "sandbox: installing bubblewrap\nsandbox: apt-get update failed; bubblewrap is asked for all the same\nsandbox: bubblewrap was made to work\n"},
		"no such package":   {"true", "exit 100", "", "sandbox: installing bubblewrap\n::notice title=ycbot sandbox::bubblewrap could not be made to work here; a lower tier is used\n"},
		"there":             {"exit 1", "exit 1", works, "sandbox: bubblewrap works\n"},
		"there and too old": {"exit 1", "exit 1", old, "::notice title=ycbot sandbox::bubblewrap 0.6.1 is too old: 0.7 or later is needed; a lower tier is used\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			files := map[string]string{
				"apt-get": "#!/bin/sh\ncase $* in *update) " + test.update + " ;; *) " + cmp.Or(test.install, "printf '#!/bin/sh\\ntrue\\n' >"+bin+"/bwrap; chmod 755 "+bin+"/bwrap") + " ;; esac\n",
				"sudo":    "#!/bin/sh\nshift\nexec \"$@\"\n",
				"cat":     "#!/bin/sh\necho 0\n", // no setting of the kernel's is in the way
			}
			if test.there != "" {
				files["bwrap"] = test.there
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"bash", "sh", "env", "timeout", "chmod", "true"} {
				at, err := exec.LookPath(name)
				if err != nil {
					t.Skip(err)
				}
				if err := os.Symlink(at, filepath.Join(bin, name)); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "bash", "../../action/prepare.sh")
			cmd.Env = []string{"PATH=" + bin}
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != test.want {
				t.Errorf("said %q (%v), want %q", out, err, test.want)
			}
		})
	}
}

// TestLimit holds that the shell of the step is moved into a cgroup on GitHub's own
// Linux runners where there is sudo, nowhere else, and that
// the step goes on whatever comes of it.
func TestLimit(t *testing.T) {
	t.Parallel()
	const hosted, prepared = "github-hosted Linux", "sandbox: sudo -n timeout 120 /t/ycbot sandbox prepare --process 4711\n"
	for _, test := range []struct {
		name, runner, tier, sudo, want string
	}{
		{"hosted", hosted, "auto", `echo "sudo $*"`, prepared},
		{"basic, too", hosted, "basic", `echo "sudo $*"`, prepared},
		{"no sandbox", hosted, "none", `echo "sudo $*"`, ""},
		{"self-hosted", "self-hosted Linux", "auto", `echo "sudo $*"`, ""},
		{"not said", " ", "auto", `echo "sudo $*"`, ""},
		{"macOS", "github-hosted macOS", "auto", `echo "sudo $*"`, ""},
		{"sudo wants a password", hosted, "auto", `exit 1`, ""},
		{"refused", hosted, "auto", `[ "$2" = true ]`, "::notice title=ycbot sandbox::no cgroup could be delegated here; memory is watched, and not limited by the kernel\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			script := "#!/bin/sh\n" + test.sudo + "\n"
			if err := os.WriteFile(filepath.Join(bin, "sudo"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "bash", "../../action/limit.sh", "4711")
			environment, system, _ := strings.Cut(test.runner, " ")
			cmd.Env = []string{
				"PATH=" + bin + ":" + os.Getenv("PATH"), "YCBOT=/t/ycbot", "INPUT_SANDBOX=" + test.tier,
				"RUNNER_ENVIRONMENT=" + environment, "RUNNER_OS=" + system,
			}
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != test.want {
				t.Errorf("said %q (%v), want %q", out, err, test.want)
			}
		})
	}
}

// TestShell runs shellcheck over the scripts.
func TestShell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	scripts := []string{"../../.ci/run"}
	for _, dir := range []string{"action", "test/vm", "test/fuzz"} {
		found, err := filepath.Glob("../../" + dir + "/*.sh")
		if err != nil || len(found) == 0 {
			t.Fatalf("no scripts in %s: %v", dir, err)
		}
		scripts = append(scripts, found...)
	}
	if out, err := exec.CommandContext(t.Context(), "shellcheck", scripts...).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
