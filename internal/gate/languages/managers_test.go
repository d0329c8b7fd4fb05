package languages

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/security.md has the table of package managers as the code has it, and each of them
// has an attack or is said to be untested.
func TestManagersAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(page), "\n")
	for _, m := range managers() {
		tried := "untested"
		if m.attack == "" && len(m.calls) == 0 {
			t.Errorf("%s: the report cannot name it", m.name)
		}
		if m.attack != "" {
			tried = "`" + m.attack + "`"
		}
		if row := fmt.Sprintf("| %s | %s | %s | %s |", m.name, m.surfaces, m.closed, tried); !slices.Contains(rows, row) {
			t.Errorf("docs/security.md lacks the row\n%s", row)
		}
	}
}
