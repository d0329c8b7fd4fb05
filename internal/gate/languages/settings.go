package languages

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// UserSettings are the files and folders below HOME in which tools look for the
// settings of their user, with stars in them. Commands find none but the operator's
// own about registries: else what the build of one project writes there would decide
// how another one is built and tested. What is installed or fetched below HOME stays.
var UserSettings = strings.Fields(`
	.config .gitconfig .netrc .curlrc .wgetrc .ssh/config .inputrc .editrc
	.profile .bashrc .bash_profile .bash_login .bash_logout .zshrc .zshenv .zprofile .zlogin .kshrc
	.npmrc .yarnrc .yarnrc.yml .pnpmrc .bunfig.toml .node_modules .node_libraries
	.pip .pypirc .pydistutils.cfg .pdbrc .pdbrc.py .pythonrc.py .condarc
	.local/lib/python*/site-packages/sitecustomize.py .local/lib/python*/site-packages/usercustomize.py
	.cargo/config .cargo/config.toml .cargo/env .rustup/settings.toml .rustfmt.toml
	.m2/settings.xml .m2/settings-security.xml .m2/toolchains.xml .m2/extensions.xml .m2/maven.config .mavenrc
	.gradle/gradle.properties .gradle/init.gradle .gradle/init.gradle.kts .gradle/init.d
	.nuget/NuGet/NuGet.Config .nuget/NuGet/config
	.gemrc .bundle/config .irbrc .pryrc .rspec
	.composer/config.json .composer/auth.json
	.mix/config.exs .hex/hex.config .erlang .iex.exs
	.cmake/packages .makerc .gdbinit .lldbinit
	Library/Application\040Support/go/env`)

// ThroughProxy are variables by which tools find the proxy at addr; they stand
// above what files of settings say.
func ThroughProxy(addr string) []string {
	u := "http://" + addr
	host, port, _ := strings.Cut(addr, ":")
	java := fmt.Sprintf("-Dhttp.proxyHost=%[1]s -Dhttp.proxyPort=%[2]s -Dhttps.proxyHost=%[1]s -Dhttps.proxyPort=%[2]s "+
		"-Dhttp.nonProxyHosts= -Daether.connector.http.useSystemProperties=true", host, port)
	var out []string
	for _, name := range strings.Fields("HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy npm_config_proxy npm_config_https_proxy " +
		"YARN_HTTP_PROXY YARN_HTTPS_PROXY PIP_PROXY CARGO_HTTP_PROXY") {
		out = append(out, name+"="+u)
	}
	return append(out, "CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse", "NO_PROXY=", "no_proxy=", "npm_config_noproxy=", "MAVEN_OPTS="+java, "GRADLE_OPTS="+java)
}

// address is the beginning of a URL: its scheme and its host.
var address = pattern.New(`(https?)://(?:[^/@\s]*@)?([A-Za-z0-9_.-]+)(:[0-9]+)?`)

// NamedRegistries are "host:port" of the registries that the operator has set, and those
// of them that are set to be asked without TLS.
func NamedRegistries(t *ecosystem.Toolchains) (named, plain []string) {
	if t == nil {
		return nil, nil
	}
	var texts []string
	env, _ := Registries(t)
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if !isProxy(name) {
			texts = append(texts, value)
		}
	}
	if t.Go != nil {
		name, _, _ := strings.Cut(t.Go.SumDB, "+") // its key follows, and perhaps another URL
		texts = append(texts, t.Go.Proxy, t.Go.SumDB, "https://"+name)
	}
	for _, eco := range All() {
		for _, f := range eco.SettingsFiles {
			for line := range strings.Lines(f.Read(t)) {
				if key, value, _ := strings.Cut(line, "="); !isProxy(key) {
					texts = append(texts, value)
				}
			}
		}
	}
	for _, text := range texts {
		for _, m := range address.FindAllStringSubmatch(text, -1) {
			port := m[3]
			if port == "" {
				port = map[string]string{"http": ":80", "https": ":443"}[m[1]]
			}
			named = append(named, strings.ToLower(m[2])+port)
			if m[1] == "http" {
				plain = append(plain, strings.ToLower(m[2])+port)
			}
		}
	}
	slices.Sort(named)
	return slices.Compact(named), plain
}

// isProxy distinguishes settings of the way to registries from those of registries.
func isProxy(name string) bool { return strings.Contains(strings.ToLower(name), "proxy") }

// What the operator of this machine has set about registries and the way to them
// holds for the setup phase of a change too. Credentials never do: what install
// scripts of dependencies can read is public.

// wayOut are variables about the way out of this machine, of which those in files
// name files or folders that have to be readable.
var (
	wayOut      = strings.Fields("HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy")
	wayOutFiles = strings.Fields("SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE")
)

// Registries are the operator's settings for the setup phase, and the files that
// they name.
func Registries(t *ecosystem.Toolchains) (env, files []string) {
	if t == nil {
		return nil, nil
	}
	names, places := slices.Clone(wayOut), slices.Clone(wayOutFiles)
	for _, eco := range All() {
		names, places = append(names, eco.Registries...), append(places, eco.RegistryFiles...)
	}
	for _, e := range t.Env {
		name, value, _ := strings.Cut(e, "=")
		switch {
		case value == "":
		case slices.Contains(places, name):
			for place := range strings.FieldsSeq(value) {
				if _, err := os.Stat(place); filepath.IsAbs(place) && err == nil {
					files = append(files, place)
				}
			}
			env = append(env, name+"="+ecosystem.WithoutUser(value))
		case slices.ContainsFunc(names, func(n string) bool { return ecosystem.SameVariable(n, name) }):
			env = append(env, name+"="+ecosystem.WithoutUser(value))
		}
	}
	return env, files
}
