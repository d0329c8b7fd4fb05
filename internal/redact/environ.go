package redact

import (
	"net/url"
	"slices"
	"strings"
)

// SetupEnv is the variable with the names of those that setup commands are given, which
// are credentials whatever they are called.
const SetupEnv = "YCBOT_SETUP_ENV"

// SetupNames are the names in a value of [SetupEnv], which commas or spaces separate.
func SetupNames(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// SecretsFrom picks the variables of environ ("NAME=value") that look like
// credentials: by a word of the name, by [SetupEnv], or by a password in a URL, of which
// it takes the password. Values that could not be distinguished from ordinary text, such as
// short ones, numbers and paths of key files, are left out; of those that SetupEnv names
// only short ones and addresses without a credential are.
func SecretsFrom(environ []string) map[string]string {
	out := map[string]string{}
	var named []string
	for _, kv := range environ {
		if value, ok := strings.CutPrefix(kv, SetupEnv+"="); ok {
			named = SetupNames(value)
		}
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		value = strings.TrimSpace(value)
		given := slices.Contains(named, name)
		if !given && (!secretName(name) || ordinary(value)) || strings.Contains(value, "://") {
			value = urlSecret(value, given)
		}
		if len(value) >= minSecret {
			out[name] = value
		}
	}
	return out
}

// secretWords end a word of a credential's name, so that GITHUBTOKEN counts and
// AUTHOR, KEYBOARD or TOKENIZERS do not.
var secretWords = []string{"TOKEN", "KEY", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "AUTH", "PAT"}

// placeWords end the name of a variable that says where a credential is, or
// what it is called.
var placeWords = []string{"FILE", "PATH", "DIR", "SOCK", "ALGORITHM", "TYPE", "NAME", "URL", "URI", "HOST"}

func secretName(name string) bool {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if len(words) == 0 || slices.Contains(placeWords, words[len(words)-1]) {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool {
		if w == "MONKEY" || w == "HOTKEY" {
			return false
		}
		if w == "AUTH" || w == "PAT" {
			return true
		}
		return slices.ContainsFunc(secretWords, func(s string) bool {
			return s != "AUTH" && s != "PAT" && strings.HasSuffix(w, s)
		})
	})
}

// ordinary matches values that stand in every log: a number, a path, an address
// without a password.
func ordinary(value string) bool {
	if strings.Trim(value, "0123456789.,") == "" {
		return true
	}
	if strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1 && !strings.ContainsAny(value, "+= \n") {
		return true
	}
	return strings.Contains(value, "://")
}

// urlSecret is the password in a URL, and with user, where it has none, its user, which is
// a token then.
func urlSecret(value string, user bool) string {
	if !strings.Contains(value, "://") {
		return ""
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return ""
	}
	pw, ok := u.User.Password()
	if !ok && user {
		return u.User.Username()
	}
	return pw
}
