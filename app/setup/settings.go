package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var settingPattern = pattern.New(`^(?:export )?([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// ParseSettings reads lines NAME=value, as env files of compose and systemd have them:
// empty lines and those that begin with # are passed over, and a value may stand in
// quotes. Nothing in it is expanded. A name that begins with YCBOT_ and that ycbot does not
// read is an error, as what it was meant to set would be left as it is without a word.
func ParseSettings(text string) (out []string, err error) {
	n := 0
	var unknown []error
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		m := settingPattern.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("line %d: want NAME=value", n) // the line may hold a secret
		}
		if text := Unknown(m[1]); text != "" {
			unknown = append(unknown, fmt.Errorf("line %d: %s", n, text))
		}
		value := m[2]
		if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
			if len(value) < 2 || value[len(value)-1] != value[0] {
				return nil, fmt.Errorf("line %d: the quote does not end", n)
			}
			value = value[1 : len(value)-1]
		}
		out = append(out, m[1]+"="+value)
	}
	return out, errors.Join(unknown...)
}

// A settingsFile is one that is being made. It is there under its name when it is whole.
type settingsFile struct {
	name  string
	force bool
	draft *os.File
}

var errSettingsThere = errors.New("it is there already: name another with --out, or give --force to replace it")

// makeSettings begins a settings file that no one else can read.
func makeSettings(name string, force bool) (*settingsFile, error) {
	if _, err := os.Lstat(name); err == nil && !force {
		return nil, fmt.Errorf("%s: %w", name, errSettingsThere)
	}
	draft, err := os.CreateTemp(filepath.Dir(name), ".ycbot-settings-*") // 0600
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return &settingsFile{name: name, force: force, draft: draft}, nil
}

// write gives the file its text and its name.
func (f *settingsFile) write(settings [][2]string) error {
	var b strings.Builder
	b.WriteString("# Settings of the GitHub App, made by ycbot app manifest. They are secrets: anyone\n# who has them is the App.\n")
	for _, s := range settings {
		value := strings.ReplaceAll(strings.TrimSpace(s[1]), "\n", `\n`)
		if strings.ContainsAny(value, "\"\r$`") {
			return fmt.Errorf("settings: the value of %s cannot be written", s[0])
		}
		fmt.Fprintf(&b, "%s=\"%s\"\n", s[0], value)
	}
	_, err := f.draft.WriteString(b.String())
	err = errors.Join(err, f.draft.Sync(), f.draft.Close())
	if err == nil && f.force {
		err = os.Rename(f.draft.Name(), f.name)
	} else if err == nil {
		err = os.Link(f.draft.Name(), f.name) // unlike renaming, it replaces nothing
		if errors.Is(err, os.ErrExist) {
			err = errSettingsThere
		}
	}
	if err != nil {
		return fmt.Errorf("settings %s: %w", f.name, err)
	}
	return nil
}

// discard removes what is not needed any more.
func (f *settingsFile) discard() {
	_ = f.draft.Close()
	_ = os.Remove(f.draft.Name())
}
