package publish

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
)

// The first lines of a comment of ours, hidden when it is shown. They are stored
// on the pull request: do not change them.
const (
	markOpen  = "<!-- ycbot:v1 "
	stateOpen = "<!-- ycbot:state "
	markClose = " -->"
	markMoved = markOpen + "moved" + markClose // a comment that was made twice: the other one counts
)

// maxEarlier is how many earlier results a comment names.
const maxEarlier = 5

// A result is one run's result, as it stands in the second line of a comment. The
// names are stored on the pull request: do not change them.
type result struct {
	Run     string         `json:"run"`
	Head    string         `json:"head"`
	Verdict report.Verdict `json:"verdict"`
	Note    string         `json:"note,omitempty"` // an EndKind, or noteClaimed
	Started time.Time      `json:"started,omitzero"`
	At      time.Time      `json:"at"`
}

const noteClaimed = "claimed"

// A state is what a comment says, and what earlier ones said.
type state struct {
	result
	Earlier []result `json:"earlier,omitempty"` // newest first
}

var runPattern = pattern.New(`^[A-Za-z0-9._:/-]{0,300}$`)

// known says that r can be shown: whatever stands in a comment, only words of ours
// come out of it.
func (r result) known() bool {
	return runPattern.MatchString(r.Run) && len(r.Head) >= 7 && len(r.Head) <= 64 && isHex(r.Head) && r.Verdict.Validate() == nil &&
		slices.Contains([]string{"", string(Superseded), string(Refused), string(Stopped), string(Removed), noteClaimed}, r.Note)
}

// line is s as it stands in a comment. JSON escapes the characters that could end it.
func (s state) line() (string, error) {
	b, err := json.Marshal(s)
	return stateOpen + string(b) + markClose, err
}

// parseState reads the second line of a comment of ours; the zero state where it has
// none, or one that is not understood.
func parseState(body string) state {
	lines := strings.SplitN(body, "\n", 3)
	if len(lines) < 2 {
		return state{}
	}
	text, ok := strings.CutPrefix(strings.TrimRight(lines[1], "\r"), stateOpen)
	if !ok {
		return state{}
	}
	var s state
	if err := json.Unmarshal([]byte(strings.TrimSuffix(text, markClose)), &s); err != nil || !s.known() {
		return state{}
	}
	s.Earlier = slices.DeleteFunc(s.Earlier, func(r result) bool { return !r.known() })
	return s
}

// succeed returns what the comment that says old says after r: old's result becomes
// an earlier one, unless it is the same run's.
func (r result) succeed(old state) state {
	if old.Run == "" && old.Head == "" {
		return state{result: r}
	}
	earlier := old.Earlier
	if old.Run != r.Run {
		earlier = append([]result{old.result}, earlier...)
	} else if !old.At.IsZero() {
		r.At = old.At // shown again: it happened when it happened
	}
	earlier = slices.DeleteFunc(slices.Clone(earlier), func(e result) bool { return e.Run == r.Run })
	return state{r, earlier[:min(len(earlier), maxEarlier)]}
}

// precede returns old with r among the earlier results: r came too late to be shown.
func (r result) precede(old state) state {
	if slices.ContainsFunc(old.Earlier, func(e result) bool { return e.Run == r.Run }) {
		return old
	}
	earlier := append([]result{r}, old.Earlier...)
	old.Earlier = earlier[:min(len(earlier), maxEarlier)]
	return old
}

// history is the line about earlier results, empty where there are none.
func (s state) history() string {
	var parts []string
	last := s.result
	for _, e := range s.Earlier {
		if e.Head == last.Head && e.Verdict == last.Verdict && e.Note == last.Note {
			continue // the same again is no news
		}
		last = e
		at := e.At.UTC().Format("2006-01-02 15:04")
		if e.At.UTC().Format(time.DateOnly) == s.At.UTC().Format(time.DateOnly) {
			at = e.At.UTC().Format("15:04")
		}
		if e.Note != "" {
			at += ", " + e.Note
		}
		parts = append(parts, fmt.Sprintf("%s at %s (%s)", e.Verdict, short(e.Head), at))
	}
	if len(parts) == 0 {
		return ""
	}
	return historyOpen + strings.Join(parts, " · ")
}

const historyOpen = "Earlier: "
