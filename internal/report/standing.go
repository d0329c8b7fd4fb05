package report

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A standing is what a check means to programs that know no more than passed,
// failed and skipped. SARIF, JUnit and in-toto share it, so that they agree.
type standing int

const (
	passed  standing = iota + 1
	failed           // speaks against the change
	warned           // worth a look, but nothing the change is blamed for, or a pass that the log does not carry
	skipped          // did not run, or could not decide
)

// standing says what c means. It fails only where the log carries the failure
// and running it again showed that it is the change's; the gate's own failures
// need no second run. Lint and mutation change no verdict.
func (c Check) standing() standing {
	switch {
	case c.Result == ResultSkip:
		return skipped
	case c.Support != Supported:
		return warned
	case c.Result == ResultPass:
		return passed
	case c.Kind == KindLint, c.Kind == KindMutation:
		return warned
	case c.Blames(), c.Reproduction == NotRun && c.Kind != KindAgent:
		return failed
	}
	return warned
}

// caveat says why a check that warned does no more than that.
func (c Check) caveat() string {
	switch {
	case c.Result == ResultPass:
		return "passed, but " + c.support()
	case c.Support != Supported:
		return "failed, but " + c.support()
	case c.Kind == KindLint, c.Kind == KindMutation:
		return "failed, which changes no verdict"
	}
	return "failed, " + c.reproduced()
}

// document encodes v as report.json is encoded: indented, <, > and & as they are,
// hidden and control characters as \u escapes, one newline at the end.
func document(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return escapeHidden(b.Bytes()), nil
}

// homepage is where people read about ycbot.
const homepage = "https://github.com/ycbot/ycbot"
