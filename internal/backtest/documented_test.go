package backtest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/checks.md counts the differences of behaviour as the lines beside it have them.
func TestBehaviourIsCounted(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../docs/behaviour-results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	judged, shown, excluded := map[Arm]int{}, map[Arm]int{}, map[string]int{}
	texts := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, text := range texts {
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Excluded != "" {
			excluded[l.Excluded]++
			continue
		}
		judged[l.Arm]++
		if l.Shown != nil && *l.Shown > 0 {
			shown[l.Arm]++
		}
		if l.Verdict != "PASS" {
			t.Errorf("%s: %s", l.Case, l.Verdict)
		}
	}
	for _, want := range []string{
		fmt.Sprintf("| unseen | %d of 9 Go repositories | %d (", judged[Unseen], shown[Unseen]),
		fmt.Sprintf("no test notices (%d), the tests that stay notice each fault (%d)", excluded[whyUnseen], excluded[whyVisible]),
		fmt.Sprintf("| good, as merged | %d of 9 Go repositories | %d (", judged[Good], shown[Good]),
		fmt.Sprintf("It is a part of the plan, %d of 360 cases", len(texts)),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/checks.md has not %q", want)
		}
	}
}
