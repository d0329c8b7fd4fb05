package results

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/testing/spent"
)

// essentials are the essentials of a suite, a line each, sorted.
func essentials(s Suite) string {
	var lines []string
	for id, t := range s {
		line := fmt.Sprintf("%s %s", t.Status, id)
		if id.Test == "" && t.Status == Passed {
			continue // a package whose tests speak for it
		}
		if t.Broken {
			line += " (broken)"
		}
		if t.Output != "" {
			line += ": " + FirstLine(t.Output)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// TestFormats holds what is read out of recorded results of each runner: every
// test with its file or class, its status and what it said when it failed.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, collect := range map[string]func(string) Collector{
		"jest.json":    Numbered(ParseJest),
		"vitest.json":  Numbered(ParseJest),
		"mocha.json":   Numbered(ParseMocha),
		"node.jsonl":   Numbered(ParseNodeTest),
		"tape.tap":     Grouped(ParseTAP),
		"ava.tap":      Grouped(ParseTAP),
		"tap.tap":      Grouped(ParseTAP),
		"pytest.xml":   Documented(ParsePytest),
		"surefire.xml": Grouped(ParseModules),
		"ctest.xml":    Grouped(parseJUnit(byCTest)),
		"meson.xml":    Grouped(parseJUnit(byMeson)),
		"phpunit.xml":  Documented(parseJUnit(byPHPUnit)),
		"cargo.txt":    Cargo,
		"members.txt":  Cargo,
		"rspec.json":   Numbered(ParseRSpec),
		"dotnet.trx":   Grouped(ParseTRX),
		"automake.txt": TextByFile(ParseAutomake),
		"mix.txt":      TextByFile(ParseMix),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", "results", name))
			if err != nil {
				t.Fatal(err)
			}
			c := collect("sub")
			for len(data) > 0 { // in pieces, as it comes
				n := min(7, len(data))
				if _, err := c.Write(data[:n]); err != nil {
					t.Fatal(err)
				}
				data = data[n:]
			}
			got := essentials(c.Suite("E1", "/repo"))
			if d, ok := c.(*document); ok && d.err != nil {
				t.Fatal(d.err)
			}
			file := filepath.Join("testdata", "results", name+".want")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestHostileResults holds that results that are no results, or meant to cost
// more than they are, give none, and that people get the reason.
func TestHostileResults(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<testsuite>", 1000) + "<testcase name=\"a\"/>" + strings.Repeat("</testsuite>", 1000)
	for name, data := range map[string]string{
		"entities": `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>`,
		"depth":    deep,
		"cut off":  `<testsuite name="a"><testcase name="b"`,
		"no XML":   "Segmentation fault",
	} {
		c := Grouped(parseJUnit(byClass))(".")
		if _, err := c.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
		if s := c.Suite("E1", ""); len(s) > 0 || c.Rest() == "" {
			t.Errorf("%s: %v, printed %q", name, s, c.Rest())
		}
	}
	big := &document{unit: ".", parse: parseJUnit(byClass)}
	chunk := []byte(strings.Repeat(" ", 1<<20))
	for range 65 {
		if n, err := big.Write(chunk); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
	}
	if big.Suite("E1", ""); len(big.data) > MaxDocument || !strings.Contains(big.Rest(), "64 MiB") {
		t.Errorf("%d bytes kept, printed %q", len(big.data), big.Rest())
	}
}

// TestHostileSizes holds that results take no more than their size to read, whatever they repeat.
func TestHostileSizes(t *testing.T) {
	t.Parallel()
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	long := strings.Repeat("x", 16<<20)
	for name, tt := range map[string]struct {
		parse   func([]byte) ([]Outcome, error)
		data    string
		refused bool
	}{
		"a group of a long name": {ParseNodeTest, repeat(5000, `{"ok":true,"name":"t%d","file":"a","nesting":1}`+"\n") +
			`{"ok":true,"name":"` + long + `","file":"a","suite":true}` + "\n{\"end\":true}\n", true},
		"a suite of a long name":   {parseJUnit(byMeson), `<testsuite name="` + long + `"><testsuite name="b">` + repeat(5000, `<testcase name="t%d"/>`) + `</testsuite></testsuite>`, true},
		"examples of one function": {ParseMix, "ATest [test/a_test.exs]\n" + repeat(60000, "  * doctest A.f/1 (%d) (0.1ms) [L#1]\n"), false},
		"modules that are invalid": {ParseMix, "ATest [test/a_test.exs]\n" + repeat(60000, "  * test t%d (0.1ms) [L#1]\n") + repeat(60000, "  %d) ATest: failure on setup_all callback, all tests have been invalidated\n"), false},
		"logs":                     {ParseAutomake, repeat(60000, "FAIL: t%d\n") + repeat(60000, "| FAIL: t%d\n| said\n"), false},
		"logs of nothing":          {ParseAutomake, repeat(60000, "FAIL: t%d\n") + repeat(60000, "| FAIL: u%d\n"), false},
		"expected to fail":         {ParseMeson, `<testsuites><testsuite name="a">` + repeat(60000, `<testcase name="t%d"/>`) + "</testsuite></testsuites>\n" + repeat(60000, "<!-- expected: u%d -->\n"), true},
		"modules of one class":     {ParseModules, repeat(40000, `<?module m%d/target/surefire-reports/a.xml?><testsuite><testcase classname="C" name="a"/></testsuite>`), false},
	} {
		var out []Outcome
		var err error
		took := spent.On(t, func() { out, err = tt.parse([]byte(tt.data)) })
		size := 0
		for _, o := range out {
			size += len(o.pkg) + len(o.name)
		}
		if took > 20*time.Second || size > 16*MaxDocument || (err != nil) != tt.refused {
			t.Errorf("%s: %v, %d bytes, %v", name, took, size, err)
		} else {
			t.Logf("%s: %v", name, took)
		}
	}
}
