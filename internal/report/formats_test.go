package report

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestFormatsGolden: the reports of testdata read as the archives in
// testdata/formats show. Run with -update to rewrite them.
func TestFormatsGolden(t *testing.T) {
	t.Parallel()
	for _, name := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			r := archived(t, name)
			got := &txtar.Archive{Files: []txtar.File{
				{Name: "report.sarif", Data: must(r.SARIF())(t)},
				{Name: "junit.xml", Data: must(r.JUnit())(t)},
			}}
			if r.HeadSHA != "" {
				s := must(r.InToto(someDigests(), "https://github.com/octo/calc/actions/runs/1"))(t)
				got.Files = append(got.Files, txtar.File{Name: "statement.intoto.json", Data: s})
			}
			golden := filepath.Join("testdata", "formats", filepath.Base(name))
			if *update {
				if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func archived(t *testing.T, name string) *Report {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return parseArchive(t, a)
}

func must(b []byte, err error) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func someDigests() map[string]string {
	return map[string]string{
		"report.json":       strings.Repeat("a", 64),
		"evidence.jsonl":    strings.Repeat("b", 64),
		".github/ycbot.yml": strings.Repeat("c", 64),
	}
}

// TestStanding: what programs call failed is what the change is blamed for.
func TestStanding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		check Check
		want  standing
	}{
		{Check{Result: ResultPass, Support: Supported}, passed},
		{Check{Result: ResultPass, Support: Related}, warned},
		{Check{Result: ResultPass, Support: Absent}, warned},
		{Check{Result: ResultSkip, Support: Supported}, skipped},
		{Check{Kind: KindTest, Result: ResultFail, Support: Supported, Reproduction: Introduced}, failed},
		{Check{Kind: KindAgent, Result: ResultFail, Support: Supported, Reproduction: HeadOnly, Oracle: "SIGSEGV"}, failed},
		{Check{Kind: KindAgent, Result: ResultFail, Support: Supported, Reproduction: HeadOnly}, warned},
		{Check{Kind: KindAgent, Result: ResultFail, Support: Supported, Reproduction: Unclear}, warned},
		{Check{Kind: KindTest, Result: ResultFail, Support: Supported, Reproduction: HeadOnly}, failed},
		{Check{Kind: KindAgent, Result: ResultFail, Support: Supported, Reproduction: Unfulfilled}, failed},
		{Check{Kind: KindAgent, Result: ResultFail, Support: Supported, Reproduction: NotRun}, warned},
		{Check{Kind: KindTest, Result: ResultFail, Support: Supported, Reproduction: NotRun}, failed},
		{Check{Kind: KindAgent, Result: ResultFail, Support: Related, Reproduction: Introduced}, warned},
		{Check{Kind: KindBuild, Result: ResultFail, Support: Supported, Reproduction: PreExisting}, warned},
		{Check{Kind: KindAgent, Result: ResultFail, Support: Supported, Reproduction: NotReproduced}, warned},
		{Check{Kind: KindLint, Result: ResultFail, Support: Supported, Reproduction: Introduced}, warned},
		{Check{Kind: KindMutation, Result: ResultFail, Support: Supported, Reproduction: Introduced}, warned},
	} {
		if got := c.check.standing(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.check, got, c.want)
		}
		if c.want == warned && c.check.caveat() == "" {
			t.Errorf("%+v: warns and does not say why", c.check)
		}
	}
}

// hostileMore are strings that try to leave their place in JSON, XML or a message of SARIF.
func hostileMore() []string {
	return append(hostile(),
		"]]>", "]]]]><![CDATA[>", "<!DOCTYPE x [<!ENTITY a \"b\">]>", "&a;", "&#0;", "\"", "'", `\"`, "\ufffe", "\uffff", "\U0001fffe", "\ud7ff\ue000",
		"[x](1)", "[a](https://e.example)](b)", "{0}", "/etc/passwd", `C:\x`, "c:/x", `\\host\x`, "../x", "a/../b", "a//b", ".", "..", "a:b.go", "a?b#c.go", "ä b.go", "%41",
	)
}

// FuzzFormats: whatever the strings of a report are, each format stays valid, has
// nothing hidden or unprintable in it, and is the same twice.
func FuzzFormats(f *testing.F) {
	for i, s := range hostileMore() {
		f.Add(s, i)
	}
	schema := sarifValidator(f)
	f.Fuzz(func(t *testing.T, s string, n int) {
		r := wordly(filled(s, n), n)
		before := must(r.JSON())(t)
		sarif, xml := must(r.SARIF())(t), must(r.JUnit())(t)
		checkBytes(t, sarif)
		checkSARIF(t, schema, r, sarif)
		checkBytes(t, xml)
		checkJUnit(t, r, xml)
		stated := must(r.InToto(map[string]string{"report.json": strings.Repeat("0", 64)}, ""))(t)
		checkBytes(t, stated)
		checkStatement(t, r, stated)
		if !bytes.Equal(sarif, must(r.SARIF())(t)) || !bytes.Equal(xml, must(r.JUnit())(t)) {
			t.Error("not the same bytes twice")
		}
		if !bytes.Equal(before, must(r.JSON())(t)) {
			t.Error("the report was changed")
		}
	})
}

// wordly gives r the words and the head that a report must have.
func wordly(r *Report, n int) *Report {
	n &= 0xff
	r.Schema, r.Trigger, r.Trust, r.Sandbox.Tier = Schema, "cli", "local", "full"
	r.Previous.Verdict = Partial
	for i := range r.Previous.Checks {
		r.Previous.Checks[i].Now = []Became{Holds, Fixed, StillFails, Broke}[(i+n)%4]
	}
	r.HeadSHA = strings.Repeat("0123456789abcdef", 3)[:40]
	r.Verdict, r.Outcome = []Verdict{Pass, Fail, Partial, Error}[n%4], []Outcome{Completed, Cancelled, Errored}[n%3]
	r.Reproduce = "ycbot run"
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Kind = []Kind{KindBuild, KindAgent, KindLint, KindProbe}[(i+n)%4]
		c.Result = []Result{ResultFail, ResultPass, ResultSkip}[i%3]
		c.Support = []Support{Supported, Related}[(i+n)%2]
		c.Reproduction = []Reproduction{Introduced, PreExisting, NotRun}[(i+n)%3]
	}
	for i := range r.Findings {
		r.Findings[i].Severity = SeverityWarning
	}
	return r
}

func checkBytes(t *testing.T, b []byte) {
	t.Helper()
	if !utf8.Valid(b) {
		t.Errorf("not UTF-8: %q", b)
	}
	if i := bytes.IndexFunc(b, func(r rune) bool { return r != '\t' && unprintable(r) }); i >= 0 {
		t.Errorf("unprintable at %d of %q", i, b)
	}
}

// TestFormatsRefuse: what report.json could not be is not rendered either.
func TestFormatsRefuse(t *testing.T) {
	t.Parallel()
	good := func() *Report { return wordly(filled("x", 1), 1) }
	digests := map[string]string{"report.json": strings.Repeat("0", 64)}
	if _, err := good().InToto(digests, ""); err != nil {
		t.Fatal(err)
	}
	r := good()
	r.Verdict = "GREEN"
	_, err1 := r.SARIF()
	_, err2 := r.JUnit()
	_, err3 := r.InToto(digests, "")
	if err1 == nil || err2 == nil || err3 == nil {
		t.Errorf("verdict GREEN: %v, %v, %v", err1, err2, err3)
	}
	for name, f := range map[string]func(r *Report) error{
		"no head":    func(r *Report) error { r.HeadSHA = ""; return second(r.InToto(digests, "")) },
		"short head": func(r *Report) error { r.HeadSHA = "abc1234"; return second(r.InToto(digests, "")) },
		"no digests": func(r *Report) error { return second(r.InToto(nil, "")) },
		"short digest": func(r *Report) error {
			return second(r.InToto(map[string]string{"report.json": "abc"}, ""))
		},
		"absolute name": func(r *Report) error {
			return second(r.InToto(map[string]string{"report.json": digests["report.json"], "/etc/x": digests["report.json"]}, ""))
		},
		"no address": func(r *Report) error { return second(r.InToto(digests, "octo/calc")) },
		"a script":   func(r *Report) error { return second(r.InToto(digests, "javascript://x/%0Aalert(1)")) },
	} {
		if err := f(good()); err == nil || !regexp.MustCompile(`^statement of report x: `).MatchString(err.Error()) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func second(_ []byte, err error) error { return err }
