package execution

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// What the operator has set about registries reaches setup, and no credential does.
func TestRegistries(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	certs := filepath.Join(home, "certs.pem")
	for name, text := range map[string]string{
		"certs.pem":          "",
		".npmrc":             "registry=https://ann:secret@npm.example.org/\n@corp:registry = https://corp.example.org\n//npm.example.org/:_authToken=secret\n_password=secret\nproxy=http://${PROXY_PASSWORD}@p\nscript-shell=/bin/false\n",
		".pip/pip.conf":      "[global]\nindex-url = https://__token__:secret@pypi.example.org/simple\nkeyring-provider = import\n[freeze]\ntimeout = 10\n",
		".cargo/config.toml": "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\nregistry = \"sparse+https://crates.example.org/\"\n[registries.corp]\ntoken = \"secret\"\n[build]\nrustc-wrapper = \"/bin/false\"\n",
	} {
		lay(t, filepath.Join(home, name), text)
	}
	tools := &ecosystem.Toolchains{Env: []string{
		"HOME=" + home, "HTTPS_PROXY=http://ann:secret@proxy.example.org:3128", "npm_config_registry=https://npm.example.org", "NPM_TOKEN=secret",
		"npm_config__authToken=secret", "PIP_EXTRA_INDEX_URL=https://a:secret@one.example.org https://two.example.org", "CARGO_REGISTRIES_CORP_INDEX=sparse+https://crates.example.org/",
		"CARGO_REGISTRIES_CORP_TOKEN=secret", "NODE_EXTRA_CA_CERTS=" + certs, "AWS_SECRET_ACCESS_KEY=secret", "PIP_CERT=/nowhere",
	}}
	env, files := languages.Registries(tools)
	want := []string{
		"HTTPS_PROXY=http://proxy.example.org:3128", "npm_config_registry=https://npm.example.org", "PIP_EXTRA_INDEX_URL=https://one.example.org https://two.example.org",
		"CARGO_REGISTRIES_CORP_INDEX=sparse+https://crates.example.org/", "NODE_EXTRA_CA_CERTS=" + certs, "PIP_CERT=/nowhere",
	}
	if strings.Join(env, "\n") != strings.Join(want, "\n") || strings.Join(files, " ") != certs {
		t.Errorf("%q\n%q", env, files)
	}
	side := t.TempDir()
	if err := (&Machine{Tools: tools}).furnish(side); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		".npmrc":               "registry=https://npm.example.org/\n@corp:registry = https://corp.example.org\n",
		".config/pip/pip.conf": "[global]\nindex-url = https://pypi.example.org/simple\n",
		".cargo/config.toml":   "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\nregistry = \"sparse+https://crates.example.org/\"\n[registries.corp]\n",
	} {
		if got, err := os.ReadFile(filepath.Join(side, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
