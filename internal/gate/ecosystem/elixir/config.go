package elixir

import (
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// judgesBy are the settings in config.exs of what tests judge by: how long ExUnit waits, and what
// its capture_log sees of the log.
var judgesBy = pattern.New(`^config\b[ (]*:(?:ex_unit|logger)\b`)

// mergeConfig puts the base's settings of ExUnit and of the logger in place of the head's, where
// others may follow that depend on the environment.
func mergeConfig(base, head []byte) ([]byte, error) {
	ours, _, _ := configParts(string(base))
	theirs, before, after := configParts(string(head))
	if head == nil || ecosystem.Trimmed(ours) == ecosystem.Trimmed(theirs) {
		return head, nil
	}
	return []byte(before + ours + after), nil
}

// configParts splits a file of settings into those that tests judge by, and what stands before the
// first of them, or before all settings, and behind that.
func configParts(text string) (own, before, after string) {
	taking, some := false, false
	for line := range strings.Lines(text) {
		switch {
		case judgesBy.MatchString(line):
			taking, some = true, true
		case strings.TrimSpace(line) != "" && !strings.ContainsAny(line[:1], " \t)]"):
			taking = false
		}
		switch {
		case taking:
			own += strings.TrimRight(line, "\n") + "\n"
		case some || after != "" || !opensConfig.MatchString(line):
			after += line
		default:
			before += line
		}
	}
	return own, before, after
}

// opensConfig is what stands before the settings of a file.
var opensConfig = pattern.New(`^\s*(?:#.*)?$|^(?:import|use)\b`)
