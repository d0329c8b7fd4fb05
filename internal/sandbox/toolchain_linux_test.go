package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"github.com/ycbot/ycbot/internal/testing/trees"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A home of which nothing is open to others, by a umask of 077, has toolchains
// that work; what is a credential by its name and place stays hidden, and a link
// to one leads nowhere.
func TestToolchainsOfClosedHome(t *testing.T) {
	variants.Only(t) // each toolchain starts
	t.Parallel()
	home := t.TempDir()
	trees.Lay(t, home, map[string]string{
		".pyenv/shims/python":               "#!/bin/sh\n",
		".pyenv/versions/3.12/lib/data":     "readable\n",
		".pyenv/versions/3.12/etc/pip.conf": "index-url = https://me:S3CR3T@pypi.example.org/simple\n",
		".pyenv/versions/3.12/etc/ca.pem":   "-----BEGIN CERTIFICATE-----\n",
		".pyenv/secret":                     "S3CR3T\n",
		".cargo/bin/id_ed25519":             "S3CR3T\n",
		".cargo/credentials.toml":           "S3CR3T\n",
		".netrc":                            "S3CR3T\n",
	})
	if err := os.Symlink("../credentials.toml", filepath.Join(home, ".cargo/bin/link")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink != 0 {
			return err
		}
		if d.IsDir() || strings.Contains(path, "/shims/") {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	tools := toolchains.Machine{PATH: home + "/.pyenv/shims:" + home + "/.cargo/bin", Home: home}.Find()
	hide := home + "/.pyenv/versions/3.12/lib/hide"
	trees.Lay(t, hide, map[string]string{"file": "S3CR3T\n"})
	for _, mode := range []string{"full", "basic"} {
		sb := detect(t, mode, func(o *sandbox.Options) { o.Home, o.Toolchains, o.Hide = home, tools, []string{hide} })
		for text, works := range map[string]bool{
			"python":                                                   true,
			"cat .pyenv/versions/3.12/lib/data":                        true,
			"cat .pyenv/versions/3.12/etc/ca.pem":                      true,
			"ls .pyenv/versions/3.12/lib":                              true,
			"grep S3CR3T .pyenv/versions/3.12/etc/pip.conf":            false,
			"grep S3CR3T .pyenv/versions/3.12/lib/hide/file":           false,
			"grep S3CR3T .cargo/bin/id_ed25519":                        false,
			"grep S3CR3T .cargo/bin/link":                              false,
			"grep S3CR3T .pyenv/secret .cargo/credentials.toml .netrc": false,
			"ls .cargo/registry":                                       false,
		} {
			res := run(t, sb, sandbox.Command{Argv: bash(strings.ReplaceAll(text, " .", " "+home+"/."))})
			if (res.Exit == 0) != works {
				t.Errorf("%s: %s: exit %d: %s%s", mode, text, res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
			}
		}
	}
}

// What lies in /opt is not there without a toolchain that lives in it.
func TestOptIsHidden(t *testing.T) {
	t.Parallel()
	if entries, err := os.ReadDir("/opt"); err != nil || len(entries) == 0 {
		t.Skip("nothing in /opt on this machine")
	}
	for mode, text := range map[string]string{"full": "ls /opt", "basic": "ls /opt"} {
		if res := run(t, detect(t, mode, nil), sandbox.Command{Argv: bash(text)}); res.Exit == 0 {
			t.Errorf("%s: %s", mode, res.Stdout.Bytes)
		}
	}
}

// The tools that this machine's own search path leads to say their version inside
// as they do outside.
func TestToolsOfThisMachine(t *testing.T) {
	variants.Only(t) // each tool starts six times
	t.Parallel()
	tools := toolchains.Machine{PATH: os.Getenv("PATH"), Home: os.Getenv("HOME"), Env: os.Environ()}.Find()
	work := t.TempDir()
	for _, mode := range []string{"full", "basic"} {
		sb := detect(t, mode, func(o *sandbox.Options) { o.Toolchains = tools })
		for _, argv := range [][]string{
			{"go", "version"},
			{"cargo", "--version"},
			{"rustc", "--version"},
			{"python", "-c", "import json, ssl; print(1)"},
			{"python3", "-c", "import json, ssl; print(1)"},
			{"node", "--version"},
			{"npm", "--version"},
			{"java", "-version"},
			{"ruby", "--version"},
			{"php", "--version"},
			{"mvn", "--version"},
			{"docker", "--version"},
		} {
			// Outside they get another home, too.
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env = append(tools.Env, "PATH="+os.Getenv("PATH"), "HOME="+work)
			cmd.Dir = work
			if err := cmd.Run(); err != nil {
				t.Logf("%s: not usable here: %v", argv[0], err)
				continue
			}
			res := run(t, sb, sandbox.Command{Argv: argv, Dir: work, Writable: []string{work}, Timeout: time.Minute})
			if res.Exit != 0 {
				t.Errorf("%s: %q: exit %d: %s%s", mode, argv, res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
			}
		}
	}
}

// Temporary files may be kept in /var/tmp, too: the sandbox is whole there, and commands see
// what is theirs and write what they may.
func TestTempDirInVarTmp(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/var/tmp", "ycbot-test-") //nolint:usetesting // it is the place that is tested
	if err != nil {
		t.Skip("/var/tmp is not there, or is not ours to write to")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	mine := filepath.Join(dir, "mine")
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	sb := detect(t, "full", func(o *sandbox.Options) { o.TempDir = dir })
	const script = `echo a >"$1/a" && echo b >/var/tmp/b && cat "$1/a" && ls "$(dirname "$1")"`
	res := run(t, sb, sandbox.Command{Argv: []string{"/bin/sh", "-c", script, "sh", mine}, Writable: []string{mine}})
	if got := string(res.Stdout.Bytes); res.Exit != 0 || got != "a\nmine\n" {
		t.Errorf("exit %d, %q\n%s", res.Exit, got, res.Stderr.Bytes)
	}
	if _, err := os.Stat("/var/tmp/b"); err == nil {
		t.Error("what the command wrote into its own /var/tmp is in the machine's")
	}
}

// Settings with a secret in them are there without it, as programs that may not read their own
// end at once; in tier basic they cannot be had, and git does not look for those of the system.
func TestSettingsWithSecrets(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	trees.Lay(t, home, map[string]string{
		"maven/bin/mvn": "#!/bin/sh\n",
		"maven/boot/plexus-classworlds-2.8.0.jar": "",
		"maven/conf/settings.xml":                 "<settings><servers><server><password>S3CR3T</password></server></servers></settings>\n",
		"maven/conf/gradle.properties":            "password=S3CR3T\n",
		"maven/conf/gitconfig":                    "[url \"https://me:S3CR3T@github.com/\"]\n\tinsteadOf = https://github.com/\n",
		"maven/conf/open/gitconfig":               "[url \"ssh://git@github.com/\"]\n\tinsteadOf = https://github.com/\n",
		"maven/conf/auth.json":                    "S3CR3T\n",
		"maven/conf/other/NuGet.Config":           "<configuration><apikeys>S3CR3T</apikeys></configuration>\n",
	})
	tools := toolchains.Machine{PATH: home + "/maven/bin", Home: home}.Find()
	sb := detect(t, "full", func(o *sandbox.Options) { o.Home, o.Toolchains = home, tools })
	for text, want := range map[string]string{
		"cat conf/settings.xml":                               "<settings/>\n",
		"cat conf/other/NuGet.Config":                         "<configuration/>\n",
		"cat conf/gradle.properties":                          "",
		"GIT_CONFIG_SYSTEM=$PWD/conf/gitconfig git config -l": "",
		"GIT_CONFIG_SYSTEM=$PWD/conf/open/gitconfig git config url.ssh://git@github.com/.insteadof": "https://github.com/\n",
		"cat conf/auth.json || echo no": "no\n",
	} {
		res := run(t, sb, sandbox.Command{Argv: bash("cd " + home + "/maven; " + text)})
		if res.Exit != 0 || string(res.Stdout.Bytes) != want {
			t.Errorf("%s: exit %d: %q, want %q\n%s", text, res.Exit, res.Stdout.Bytes, want, res.Stderr.Bytes)
		}
	}
	res := run(t, sb, sandbox.Command{
		Argv: bash("cat " + home + "/maven/conf/*.xml; cat /etc/hosts; ls /proc/self/fd"), Loopback: open(t, sb), Services: newEcho(t).services(t, "db"),
	})
	if got := string(res.Stdout.Bytes); res.Exit != 0 || !strings.HasPrefix(got, "<settings/>\n") || !strings.Contains(got, "db") || !strings.HasSuffix(got, "\n0\n1\n2\n3\n") {
		t.Errorf("with a service and a shared loopback interface: exit %d: %q\n%s", res.Exit, got, res.Stderr.Bytes)
	}
	sb = detect(t, "basic", func(o *sandbox.Options) { o.Home, o.Toolchains = home, tools })
	if res := run(t, sb, sandbox.Command{Argv: bash("cat " + home + "/maven/conf/settings.xml")}); res.Exit == 0 {
		t.Errorf("basic: %s", res.Stdout.Bytes)
	}
}
