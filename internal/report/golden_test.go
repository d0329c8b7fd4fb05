package report

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the renderings in testdata")

// TestGolden: a report reads as the archives in testdata show. To change the
// renderings, change them, run with -update and read the difference.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			r := parseArchive(t, a)
			r.ReportDir = "/runs/" + r.RunID
			got := []txtar.File{
				// Escapes are written out, so that the archive stays a text.
				{Name: "text", Data: []byte(strings.ReplaceAll(r.Text(options(t, a)), "\x1b", `\x1b`))},
				{Name: "summary", Data: []byte(Summary(r) + "\n")},
				{Name: "markdown", Data: []byte(r.Markdown())},
			}
			if *update {
				a.Files = append(inputs(a), got...)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range got {
				if diff := cmp.Diff(string(file(a, f.Name)), string(f.Data)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
		})
	}
}

func archives(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("testdata: %v, %d archives", err, len(names))
	}
	return names
}

func parseArchive(t *testing.T, a *txtar.Archive) *Report {
	t.Helper()
	r, err := Parse(file(a, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func file(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func inputs(a *txtar.Archive) []txtar.File {
	var in []txtar.File
	for _, f := range a.Files {
		if f.Name == "options" || f.Name == "report.json" {
			in = append(in, f)
		}
	}
	return in
}

func options(t *testing.T, a *txtar.Archive) TextOptions {
	t.Helper()
	var o TextOptions
	for _, word := range strings.Fields(string(file(a, "options"))) {
		switch k, v, _ := strings.Cut(word, "="); k {
		case "color":
			o.Color = true
		case "width":
			n, err := strconv.Atoi(v)
			if err != nil {
				t.Fatal(err)
			}
			o.Width = n
		default:
			t.Fatalf("option %q", word)
		}
	}
	return o
}
