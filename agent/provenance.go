package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/transcript"
)

// A Provenance is what a subagent really did, by its calls and not by its words.
type Provenance struct {
	Commands []string `json:"commands,omitempty"` // the first of them, cut; failed ones say so
	Ran      int      `json:"ran,omitempty"`
	Failed   int      `json:"failed,omitempty"`
	Denied   int      `json:"denied,omitempty"` // calls that were refused
}

// Bounds of the commands that are listed.
const (
	provenanceMost  = 15
	provenanceRunes = 120
)

// String is a footer of one line, empty where nothing was run or refused.
func (p Provenance) String() string {
	if p.Ran+p.Denied == 0 {
		return ""
	}
	s := fmt.Sprintf("commands run: %d, failed: %d, calls refused: %d", p.Ran, p.Failed, p.Denied)
	for i, c := range p.Commands {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		s += sep + c
	}
	if more := p.Ran - len(p.Commands); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// A ledger makes a Provenance of the events of a turn. A turn that is run once
// more reports the same events again, which count once.
type ledger struct {
	p    Provenance
	seen map[string]bool
}

// exitCode is how the answer of a command begins.
var exitCode = pattern.New(`^\[E\d+\] exit=(-?\d+)`)

func (l *ledger) note(e Event) {
	if e.Type != transcript.ToolResult && e.Type != transcript.CallDenied {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	if l.seen[e.Key()] {
		return
	}
	l.seen[e.Key()] = true
	exit := exitCode.FindStringSubmatch(e.Text)
	switch {
	case e.Type == transcript.CallDenied:
		l.p.Denied++
	case exit != nil:
		l.ran(e, exit[1] != "0")
	}
}

func (l *ledger) ran(e Event, failed bool) {
	l.p.Ran++
	var args struct{ Command string }
	if json.Unmarshal([]byte(e.Call.Args), &args) != nil || args.Command == "" {
		args.Command = e.Call.Name
	}
	line := clip(strings.Join(strings.Fields(args.Command), " "), provenanceRunes)
	if failed {
		l.p.Failed++
		line += " (failed)"
	}
	if len(l.p.Commands) < provenanceMost {
		l.p.Commands = append(l.p.Commands, line)
	}
}

func (l *ledger) sum() Provenance { return l.p }
