package config

import (
	"strings"
	"testing"
)

// No file sets a variable that would weaken the run, or carries a secret; and
// what tests commonly need can be set.
func TestEnvNames(t *testing.T) {
	t.Parallel()
	for reason, names := range map[string]string{
		"": "TZ CI LANG NODE_ENV RAILS_ENV DATABASE_URL MAX_TOKENS TOKENIZERS_PARALLELISM PYTHONHASHSEED GOFLAGS GOMAXPROCS RUST_BACKTRACE " +
			"PUBLIC_KEYSERVER COMPASS DEBUG lower_case _X",
		"looks like a credential": "GITHUB_TOKEN GH_TOKEN NPM_TOKEN OPENAI_API_KEY openai_api_key AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID PGPASSWORD " +
			"POSTGRES_PASSWORD CLIENT_SECRET SECRET_KEY_BASE SSH_PRIVATE_KEY GOOGLE_APPLICATION_CREDENTIALS AUTHTOKEN NPM_CONFIG__AUTH",
		"it changes what programs load": "LD_PRELOAD ld_library_path LD_AUDIT DYLD_INSERT_LIBRARIES GIT_DIR GIT_SSH_COMMAND GIT_CONFIG_COUNT BASH_ENV ENV " +
			"BASH_FUNC_x NODE_OPTIONS PYTHONSTARTUP JAVA_TOOL_OPTIONS RUBYOPT PERL5OPT SHELLOPTS IFS PS4",
		"ycbot sets it for every command": "PATH Path HOME TMPDIR USER SHELL YCBOT_HOME GITHUB_ENV ACTIONS_RUNTIME_URL RUNNER_TEMP INPUT_MODEL",
		"is said by network.allow":        "HTTP_PROXY https_proxy NO_PROXY",
		"not the name of a variable":      "A-B 1A A.B Ü",
	} {
		for name := range strings.FieldsSeq(names) {
			got := envName(name)
			if (got == "") != (reason == "") || !strings.Contains(got, reason) {
				t.Errorf("%s: %q, want %q", name, got, reason)
			}
		}
	}
}

// A credential in a value is refused, and the message does not repeat it.
func TestEnvValues(t *testing.T) {
	t.Parallel()
	for value, secret := range map[string]bool{
		"gh" + "p_0123456789abcdefghijABCDEFGHIJ012345":      true,
		"Bearer github" + "_pat_0123456789abcdefghijABCDEFG": true,
		"sk" + "-proj-0123456789abcdefghij":                  true,
		"AK" + "IA0123456789ABCDEF":                          true,
		"-----BEGIN RSA PRIV" + "ATE KEY-----":               true,
		"postgres://u:hunter2@db.example.com/x":              true,
		"postgres://u:p@localhost:5432/x":                    false,
		"redis://:p@127.0.0.1:6379":                          false,
		"https://user@example.com/":                          false,
		"task-0123456789abcdefghijklm":                       false,
		"plain text, with words":                             false,
	} {
		if got := holdsSecret(value); got != secret {
			t.Errorf("%q: %v", value, got)
		}
		_, err := Parse("f", []byte("version: 1\nenv: {A: \""+value+"\"}\n"))
		if (err != nil) != secret {
			t.Errorf("%q: %v", value, err)
		}
		if err != nil && strings.Contains(err.Error(), value) {
			t.Errorf("the message repeats the value: %v", err)
		}
	}
}
