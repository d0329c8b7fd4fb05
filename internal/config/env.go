package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/pattern"
)

// environment reads variables for commands, merging them into those there are.
// A value is any scalar but null, taken as it is written. No message repeats a
// value: it may be a secret that should not have been there.
func environment(to *map[string]string) setter {
	return func(d *document, n *yaml.Node, path string) {
		env := *to
		d.mapping(n, path, func(key, value *yaml.Node) {
			where := join(path, plain(key.Value))
			if wrong := envName(key.Value); wrong != "" {
				d.at(key, where, "%s", wrong)
				return
			}
			switch {
			case value.Kind != yaml.ScalarNode, value.ShortTag() == "!!null":
				d.wrongType(value, where, "text")
				return
			case len(value.Value) > 16<<10:
				d.at(value, where, "a value of over 16 KiB")
				return
			case strings.ContainsRune(value.Value, 0):
				d.at(value, where, "a value with a zero byte")
				return
			case holdsSecret(value.Value):
				d.at(value, where, "looks like a credential; %s", noSecrets)
				return
			}
			if env == nil {
				env = map[string]string{}
			}
			env[key.Value] = value.Value
		})
		*to = env
	}
}

const noSecrets = "secrets come only from the operator (flag, environment), never from a repository"

var envPattern = pattern.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// Variables that a file may not set, by what setting them would do. Names are
// compared in capitals.
var (
	// loaded makes every program of a command run or load something else first.
	loadedNames = []string{
		"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "NODE_OPTIONS", "PYTHONSTARTUP",
		"PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS",
	}
	loadedPrefixes = []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"}

	// given are set by ycbot itself for every command.
	givenNames    = []string{"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "PWD"}
	givenPrefixes = []string{"YCBOT_", "GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_"}

	// network variables would point around the network policy.
	networkNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"}

	// secret are the last words of names that hold credentials: API_KEY,
	// PGPASSWORD and AUTH_TOKEN, but neither MAX_TOKENS nor TOKENIZERS_PARALLELISM.
	secretEndings = []string{"TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "APIKEY", "_AUTH"}
	secretParts   = []string{"API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "SECRET_KEY", "SIGNING_KEY", "ENCRYPTION_KEY"}
)

// envName says why a file may not set the variable, "" where it may.
func envName(name string) string {
	if !envPattern.MatchString(name) {
		return "not the name of a variable (letters, digits and _)"
	}
	upper := strings.ToUpper(name)
	begins := func(s string) bool { return strings.HasPrefix(upper, s) }
	ends := func(s string) bool { return strings.HasSuffix(upper, s) }
	has := func(s string) bool { return strings.Contains(upper, s) }
	switch {
	case slices.ContainsFunc(secretEndings, ends), slices.ContainsFunc(secretParts, has):
		return "looks like a credential; " + noSecrets
	case slices.Contains(loadedNames, upper), slices.ContainsFunc(loadedPrefixes, begins):
		return "may not be set: it changes what programs load before they run"
	case slices.Contains(givenNames, upper), slices.ContainsFunc(givenPrefixes, begins):
		return "may not be set: ycbot sets it for every command, or keeps it from them"
	case slices.Contains(networkNames, upper):
		return "may not be set: what commands reach is said by network.allow"
	}
	return ""
}

// secretForms are the credentials that can be recognised by their form.
var secretForms = pattern.New(`gh[pousr]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9]{20}|glpat-[A-Za-z0-9_-]{16}|` +
	`\bsk-[A-Za-z0-9_-]{20}|\bAKIA[0-9A-Z]{16}\b|xox[abeprs]-[A-Za-z0-9-]{10}|npm_[A-Za-z0-9]{30}|-----BEGIN [A-Z ]*PRIVATE KEY`)

// holdsSecret reports a value that looks like a credential: a known form, or an
// address with a password that is not the job's own.
func holdsSecret(value string) bool {
	if secretForms.MatchString(value) {
		return true
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	password, _ := u.User.Password()
	return password != "" && !isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
