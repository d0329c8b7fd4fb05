package toolchains_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
)

// makeDisk makes a disk of lines: "path" is a file, "path/" a directory, "path -> target" a
// link, "path: text" a file with that text.
func makeDisk(t *testing.T, root string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		for entry := range strings.Lines(line) {
			if entry = strings.TrimSpace(entry); entry != "" {
				makeEntry(t, root, entry)
			}
		}
	}
}

func makeEntry(t *testing.T, root, entry string) {
	t.Helper()
	name, target, link := strings.Cut(entry, " -> ")
	name, text, _ := strings.Cut(name, ": ")
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	switch {
	case link:
		err = os.Symlink(target, path)
	case strings.HasSuffix(name, "/"):
		err = os.MkdirAll(path, 0o755)
	default:
		err = os.WriteFile(path, []byte(text+"\n"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What lies beside the programs of a home directory, or of a machine.
const besideTools = `
	/home/ann/.docker/bin/docker-x
	/home/ann/.docker/config.json
	/home/ann/.fly/bin/flyctl
	/home/ann/.fly/config.yml
	/home/ann/.cargo/bin/cargo
	/home/ann/.cargo/credentials.toml
	/home/ann/.rustup/toolchains/stable/bin/rustc
	/home/ann/.rustup/settings.toml
	/home/ann/.rustup/other
	/home/ann/go/bin/tool
	/home/ann/go/pkg/mod/private/x
	/home/ann/bin/x
	/home/ann/work/bin/x
	/home/ann/work/lib/x
	/home/ann/work/secret
	/home/ann/sdk/go1.25/bin/go
	/home/ann/sdk/go1.25/pkg/tool/x
	/home/ann/sdk/go1.25/src/runtime/runtime.go
	/home/ann/sdk/go1.25/notes
	/home/ann/.pyenv/versions/3.12/bin/python
	/home/ann/.pyenv/shims/python
	/home/ann/.pyenv/bin -> libexec
	/home/ann/.pyenv/libexec/pyenv
	/home/ann/.pyenv/.git/config
	/home/ann/.nvm/versions/node/v22/bin/node
	/home/ann/.nvm/.git/config
	/home/ann/.sdkman/candidates/java/21/bin/java
	/home/ann/.sdkman/candidates/java/current -> 21
	/home/ann/.sdkman/etc/config
	/home/ann/.asdf/shims/ruby
	/home/ann/.asdf/installs/ruby/3/bin/ruby
	/home/ann/.asdf/.git/config
	/home/ann/.local/share/mise/shims/node -> /home/ann/.local/bin/mise
	/home/ann/.local/share/mise/installs/node/22/bin/node
	/home/ann/.local/share/mise/state
	/home/ann/.config/mise/config.toml
	/home/ann/.config/mise/other
	/home/ann/.volta/bin/node
	/home/ann/.volta/tools/image/node/22/bin/node
	/home/ann/.volta/layout.v4
	/home/ann/.volta/hooks.json
	/home/ann/.local/share/keyrings/login
	/home/ann/.local/share/pipx/venvs/black/bin/black: #!/home/ann/.local/share/pipx/venvs/black/bin/python
	/home/ann/.local/share/pipx/venvs/black/bin/python -> /home/ann/.local/share/uv/python/cpython-3.12/bin/python3
	/home/ann/.local/share/pipx/venvs/black/pyvenv.cfg
	/home/ann/.local/share/pipx/venvs/other/token
	/home/ann/.local/share/uv/python/cpython-3.12 -> cpython-3.12.1
	/home/ann/.local/share/uv/python/cpython-3.12.1/bin/python3
	/home/ann/.local/share/uv/python/cpython-3.13.0/bin/python3
	/home/ann/.local/bin/black -> ../share/pipx/venvs/black/bin/black
	/home/ann/.local/bin/mise
	/home/ann/.local/bin/flyctl -> /home/ann/.fly/bin/flyctl
	/home/ann/tools -> /data/tools
	/data/tools/bin/x
	/data/secret
	/run/user/1/fnm_multishells/7/bin -> /home/ann/.local/share/fnm/node-versions/v22/installation/bin
	/home/ann/.local/share/fnm/node-versions/v22/installation/bin/node
	/home/ann/.local/share/fnm/state
	/home/bob/.cargo/bin/cargo
	/home/bob/.cargo/credentials
	/home/bob/.azure/bin/bicep
	/opt/mise.toml
	/opt/node/bin/node
	/opt/node/lib/node_modules/npm/x
	/opt/node/include/node/node.h
	/opt/node/notes
	/opt/app/bin/x
	/opt/app/lib/x
	/opt/app/config/token
	/opt/bin/x
	/opt/lib/x
	/srv/runner/.runner
	/srv/runner/bin/Runner
	/srv/runner/lib/x
	/usr/bin/plain
	/usr/share/x
`

// A directory of the search path brings itself, and of a known layout what its row
// names; never what lies beside it.
func TestToolchains(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeDisk(t, root, besideTools)
	const home = "/home/ann"
	for _, tt := range []struct {
		path, home, env string
		want            string // of Read
		set             string // of Env
	}{
		{path: home + "/.docker/bin", want: home + "/.docker/bin"},
		{path: home + "/.fly/bin/", want: home + "/.fly/bin"},
		{path: home + "/.fly/bin", home: "/home/bob", want: home + "/.fly/bin"},
		{path: home + "/go/bin", want: home + "/go/bin"},
		{path: home + "/bin", want: home + "/bin"},
		{path: home + "/work/bin", want: home + "/work/bin"},
		{path: home},
		{path: "/home"},
		{path: "/opt"},
		{path: home + "/.local"},
		{path: "relative/bin:/usr/bin:/gone/bin:/tmp"},
		{
			path: home + "/.cargo/bin", set: "RUSTUP_HOME=" + home + "/.rustup",
			want: home + "/.cargo/bin " + home + "/.rustup/toolchains " + home + "/.rustup/settings.toml",
		},
		{path: "/home/bob/.cargo/bin", want: "/home/bob/.cargo/bin", home: "/elsewhere"},
		{path: "/home/bob/.azure/bin", want: "/home/bob/.azure/bin", home: "/elsewhere"},
		{path: home + "/sdk/go1.25/bin", want: home + "/sdk/go1.25/bin " + home + "/sdk/go1.25/pkg " + home + "/sdk/go1.25/src"},
		{
			path: home + "/.pyenv/shims", set: "PYENV_ROOT=" + home + "/.pyenv",
			want: home + "/.pyenv/versions " + home + "/.pyenv/bin " + home + "/.pyenv/shims " + home + "/.pyenv/libexec",
		},
		{path: home + "/.nvm/versions/node/v22/bin", want: home + "/.nvm/versions"},
		{path: home + "/.sdkman/candidates/java/current/bin", want: home + "/.sdkman/candidates " + home + "/.sdkman/candidates/java/current/bin"},
		{
			path: home + "/.asdf/shims", set: "ASDF_DATA_DIR=" + home + "/.asdf",
			want: home + "/.asdf/shims " + home + "/.asdf/installs",
		},
		{
			path: home + "/.local/share/mise/shims", set: "MISE_DATA_DIR=" + home + "/.local/share/mise MISE_GLOBAL_CONFIG_FILE=" + home + "/.config/mise/config.toml",
			want: home + "/.local/share/mise/shims " + home + "/.local/share/mise/installs " + home + "/.local/bin/mise " + home + "/.config/mise/config.toml",
		},
		{
			path: home + "/.local/share/mise/shims", env: "MISE_GLOBAL_CONFIG_FILE=/opt/mise.toml",
			set:  "MISE_DATA_DIR=" + home + "/.local/share/mise MISE_GLOBAL_CONFIG_FILE=/opt/mise.toml",
			want: home + "/.local/share/mise/shims " + home + "/.local/share/mise/installs " + home + "/.local/bin/mise /opt/mise.toml",
		},
		{
			path: home + "/.volta/bin", set: "VOLTA_HOME=" + home + "/.volta",
			want: home + "/.volta/bin " + home + "/.volta/tools " + home + "/.volta/layout.v4",
		},
		{
			path: home + "/.local/bin",
			want: home + "/.local/bin " + home + "/.local/share/pipx/venvs/black " + home + "/.fly/bin/flyctl " +
				home + "/.local/share/uv/python/cpython-3.12 " + home + "/.local/share/uv/python/cpython-3.12.1",
		},
		{path: home + "/tools/bin", want: home + "/tools/bin /data/tools/bin"},
		{
			path: "/run/user/1/fnm_multishells/7/bin",
			want: "/run/user/1/fnm_multishells/7/bin " + home + "/.local/share/fnm/node-versions",
		},
		{path: "/opt/node/bin", want: "/opt/node/bin /opt/node/lib/node_modules /opt/node/include/node"},
		{path: "/opt/app/bin", want: "/opt/app/bin /opt/app/lib"},
		{path: "/opt/bin", want: "/opt/bin"},
		{path: "/srv/runner/bin", want: "/srv/runner/bin"},
		{env: "JAVA_HOME=" + home, want: ""},
		{env: "GOROOT_1_25_X64=" + home + "/sdk/go1.25", want: home + "/sdk/go1.25/bin " + home + "/sdk/go1.25/pkg " + home + "/sdk/go1.25/src"},
		{env: "MY_TOKEN_DIR=/opt/app"},
		{env: "CARGO_HOME=" + home, want: ""},
	} {
		m := toolchains.Machine{PATH: tt.path, Home: home, Env: []string{tt.env}, Root: root}
		if tt.home != "" {
			m.Home = tt.home
		}
		got := m.Find()
		want := strings.Fields(tt.want)
		slices.Sort(want)
		slices.Sort(got.Read)
		if diff := cmp.Diff(want, got.Read, cmp.Transformer("", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
			t.Errorf("%s%s: %s", tt.path, tt.env, diff)
		}
		if env := strings.Join(got.Env, " "); env != tt.set {
			t.Errorf("%s%s: variables %q, want %q", tt.path, tt.env, env, tt.set)
		}
	}
}

// A GitHub-hosted machine, with what its links, variables and search path lead to.
func TestToolchainsOfHostedImage(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeDisk(t, root, `
		/usr/bin/java -> /etc/alternatives/java
		/etc/alternatives/java -> /usr/lib/jvm/temurin-17/bin/java
		/usr/lib/jvm/temurin-17/bin/java
		/usr/bin/google-chrome -> /etc/alternatives/google-chrome
		/etc/alternatives/google-chrome -> /usr/bin/google-chrome-stable
		/usr/bin/google-chrome-stable -> /opt/google/chrome/google-chrome
		/opt/google/chrome/google-chrome
		/opt/google/other
		/var/lib/gems/3.1.0/gems/rake/x
		/var/lib/ca-certificates/ca-bundle.pem
		/var/lib/other/x
		/usr/bin/pwsh -> /opt/microsoft/powershell/7/pwsh
		/opt/microsoft/powershell/7/pwsh
		/usr/local/bin/ansible -> /opt/pipx_bin/ansible
		/opt/pipx_bin/ansible -> /opt/pipx/venvs/ansible/bin/ansible
		/opt/pipx/venvs/ansible/bin/ansible: #!/opt/pipx/venvs/ansible/bin/python
		/opt/pipx/venvs/ansible/bin/python -> /usr/bin/python3
		/opt/pipx/venvs/unused/bin/x
		/opt/pipx/shared/x
		/usr/bin/python3
		/opt/hostedtoolcache/go/1.25.1/x64/bin/go
		/opt/hostedtoolcache/go/1.24.0/x64/bin/go
		/opt/hostedtoolcache/go/1.23.0/x64/bin/go
		/opt/hostedtoolcache/node/22.1.0/x64/bin/node
		/opt/runner/provisioner/key
		/opt/actionarchivecache/x
		/home/runner/.cargo/bin/cargo
		/home/runner/.rustup/toolchains/stable/bin/cargo
		/home/runner/.rustup/settings.toml
		/home/runner/.dotnet/tools/x
		/home/runner/.dotnet/corefx/cryptography/x509stores/my/key.pfx
		/home/runner/.config/composer/vendor/bin/phpunit
		/home/runner/.config/composer/auth.json
		/home/runner/.local/bin/x
		/home/runner/.nvm/versions/
		/home/runner/actions-runner/cached/.credentials
		/home/runner/work/_temp/token
	`)
	got := toolchains.Machine{
		PATH: "/opt/hostedtoolcache/go/1.25.1/x64/bin:/snap/bin:/home/runner/.local/bin:/opt/pipx_bin:/home/runner/.cargo/bin:/home/runner/.config/composer/vendor/bin:" +
			"/usr/local/.ghcup/bin:/home/runner/.dotnet/tools:/usr/local/sbin:/usr/local/bin:/usr/bin",
		Home: "/home/runner",
		Env: []string{
			"GOROOT_1_24_X64=/opt/hostedtoolcache/go/1.24.0/x64", "JAVA_HOME_17_X64=/usr/lib/jvm/temurin-17", "RUNNER_TOOL_CACHE=/opt/hostedtoolcache",
			"PIPX_HOME=/opt/pipx", "PIPX_BIN_DIR=/opt/pipx_bin", "NVM_DIR=/home/runner/.nvm", "ACTIONS_RUNTIME_TOKEN=x", "RUNNER_TEMP=/home/runner/work/_temp",
		},
		Root: root,
	}.Find()
	slices.Sort(got.Read)
	want := []string{
		"/home/runner/.cargo/bin", "/home/runner/.config/composer/vendor", "/home/runner/.dotnet/tools", "/home/runner/.local/bin", "/home/runner/.nvm/versions",
		"/home/runner/.rustup/settings.toml", "/home/runner/.rustup/toolchains",
		"/opt/google/chrome", "/opt/hostedtoolcache/go/1.24.0/x64", "/opt/hostedtoolcache/go/1.25.1/x64", "/opt/microsoft/powershell/7",
		"/opt/pipx/shared", "/opt/pipx/venvs/ansible", "/opt/pipx_bin", "/var/lib/ca-certificates", "/var/lib/gems",
	}
	if diff := cmp.Diff(want, got.Read); diff != "" {
		t.Error(diff)
	}
}

// A runner of the operator's own: its tools are in its work folder, beside the
// token of a checkout and its own credentials.
func TestToolchainsOfOwnRunner(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeDisk(t, root, `
		/opt/actions-runner/.credentials
		/opt/actions-runner/.runner
		/opt/actions-runner/run.sh
		/opt/actions-runner/svc.sh
		/opt/actions-runner/bin/Runner.Listener
		/opt/actions-runner/externals/node20/bin/node
		/opt/actions-runner/externals/node20/include/node/node.h
		/opt/actions-runner/_work/_tool/go/1.25.1/x64/bin/go
		/opt/actions-runner/_work/_tool/node/22/x64/bin/node
		/opt/actions-runner/_work/repo/repo/.git/config
		/opt/actions-runner/_work/repo/repo/node_modules/.bin/x
		/usr/local/bin/runner -> /opt/actions-runner/svc.sh
		/usr/local/bin/helper: #!/srv/venv/bin/python
		/srv/venv/bin/python -> /usr/bin/python3
		/srv/venv/pyvenv.cfg
		/srv/venv/.env
		/usr/bin/python3
		/opt/other-runner/_work/repo/.git/config
		/mnt/disk/secret
	`)
	got := toolchains.Machine{
		PATH: "/opt/actions-runner/_work/_tool/go/1.25.1/x64/bin:/opt/actions-runner/externals/node20/bin:/usr/local/bin:/usr/bin",
		Home: "/home/ci", Env: []string{"RUNNER_TOOL_CACHE=/opt/actions-runner/_work/_tool"}, Root: root,
	}.Find()
	slices.Sort(got.Read)
	want := []string{
		"/opt/actions-runner/_work/_tool/go/1.25.1/x64", "/opt/actions-runner/externals/node20/bin", "/opt/actions-runner/externals/node20/include/node",
		"/opt/actions-runner/svc.sh", "/srv/venv/bin", "/srv/venv/pyvenv.cfg",
	}
	if diff := cmp.Diff(want, got.Read); diff != "" {
		t.Error(diff)
	}
}
