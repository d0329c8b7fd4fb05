package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ycbot/ycbot/internal/report"
)

// Schema names the form of results.json.
const schema = "ycbot.eval/v1"

// Results is results.json.
type Results struct {
	Schema string          `json:"schema"`
	Setup  Setup           `json:"setup"`
	Total  Score           `json:"total"`
	Groups map[Group]Score `json:"groups"`
	Cases  []Result        `json:"cases"`
}

// A Setup is what was measured. Results of different setups are never mixed.
type Setup struct {
	Model    string `json:"model"`
	Provider string `json:"provider"`
	BaseURL  string `json:"base_url"` // without what may be secret in it
	Ycbot    string `json:"ycbot"`    // digest of the program
}

// A Result is what ycbot made of a case.
type Result struct {
	Case         string         `json:"case"`
	Digest       string         `json:"digest"`
	Group        Group          `json:"group"`
	Kind         string         `json:"kind,omitempty"`
	Bad          bool           `json:"bad"`
	Wrong        string         `json:"wrong,omitempty"`
	Verdict      report.Verdict `json:"verdict"` // ERROR where there is no report
	Outcome      report.Outcome `json:"outcome"`
	Reasons      []string       `json:"reasons"`
	Checks       []Check        `json:"checks"`  // the agents' own
	Struck       int            `json:"struck"`  // checks that were struck out: the log has nothing of them
	Named        int            `json:"named"`   // functions and command lines that the gate finds to do something else
	Open         int            `json:"open"`    // of these, that no test of the change is about
	Repairs      int            `json:"repairs"` // turns in which an agent was asked to put its report right
	InputTokens  int            `json:"input_tokens"`
	OutputTokens int            `json:"output_tokens"`
	CachedTokens int            `json:"cached_tokens"`
	CostUSD      *float64       `json:"cost_usd"`
	DurationMS   int64          `json:"duration_ms"`
	Run          string         `json:"run"`             // folder of the run, below that of the results
	Error        string         `json:"error,omitempty"` // why there is no verdict of the agents
}

// A Check is a check of an agent.
type Check struct {
	Title        string              `json:"title"`
	Result       report.Result       `json:"result"`
	Support      report.Support      `json:"support"`
	Reproduction report.Reproduction `json:"reproduction"`
}

// finished reports whether results stand; a case without one is run again.
func (r Result) finished() bool {
	return r.Error == "" && (r.Verdict == report.Pass || r.Verdict == report.Fail || r.Verdict == report.Partial)
}

const right = "right"

// mark says what a result is worth.
func (r Result) mark() string {
	switch {
	case !r.finished():
		return "no verdict"
	case r.Verdict == report.Partial:
		return "undecided"
	case r.Bad == (r.Verdict == report.Fail):
		return right
	case r.Bad:
		return "missed"
	}
	return "false FAIL"
}

// wrong counts the results that are not right.
func (res *Results) wrong() int {
	n := 0
	for _, r := range res.Cases {
		if r.mark() != right {
			n++
		}
	}
	return n
}

// readResults reads the results of a folder, empty ones where it has none.
func readResults(file string, setup Setup) (*Results, error) {
	res := &Results{Schema: schema, Setup: setup}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return res, nil
	}
	if err != nil {
		return nil, err
	}
	old := new(Results)
	if err := json.Unmarshal(data, old); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	switch {
	case old.Schema != schema:
		return nil, fmt.Errorf("%s is not of this program: give another folder with -out", file)
	case old.Setup != setup && !slices.ContainsFunc(old.Cases, Result.finished):
		return res, nil // nothing there that was worth anything
	case old.Setup != setup:
		return nil, fmt.Errorf("%s is of another model, endpoint or version of ycbot (%s, %s): give another folder with -out", file, old.Setup.Model, old.Setup.Ycbot)
	}
	res.Cases = old.Cases
	res.count()
	return res, nil
}

// of returns the standing result of a case.
func (res *Results) of(c Case) (Result, bool) {
	i := slices.IndexFunc(res.Cases, func(r Result) bool { return r.Case == c.Name && r.Digest == c.digest && r.finished() })
	if i < 0 {
		return Result{}, false
	}
	return res.Cases[i], true
}

// put takes in a result in place of an older one of the same case.
func (res *Results) put(r Result) {
	res.Cases = slices.DeleteFunc(res.Cases, func(old Result) bool { return old.Case == r.Case })
	res.Cases = append(res.Cases, r)
	slices.SortFunc(res.Cases, func(a, b Result) int {
		return cmp.Or(slices.Index(groups(), a.Group)-slices.Index(groups(), b.Group), cmp.Compare(a.Case, b.Case))
	})
	res.count()
}

// forget drops the results of cases that are not as they were any more.
func (res *Results) forget(all []Case) {
	res.Cases = slices.DeleteFunc(res.Cases, func(r Result) bool {
		return slices.ContainsFunc(all, func(c Case) bool { return c.Name == r.Case && c.digest != r.Digest })
	})
	res.count()
}

func (res *Results) count() {
	res.Total, res.Groups = score(res.Cases), map[Group]Score{}
	for _, g := range groups() {
		if of := res.group(g); len(of) > 0 {
			res.Groups[g] = score(of)
		}
	}
}

func groups() []Group { return []Group{Seeded, Release, Undone} }

func (res *Results) group(g Group) []Result {
	return slices.DeleteFunc(slices.Clone(res.Cases), func(r Result) bool { return r.Group != g })
}

// write writes results.json and results.md.
func (res *Results) write(dir string) error {
	data, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, "results.json"), append(data, '\n')); err != nil {
		return err
	}
	return replace(filepath.Join(dir, "results.md"), []byte(res.markdown()))
}

// replace never leaves half a file behind: results have been paid for.
func replace(file string, data []byte) error {
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// markdown is results.md.
func (res *Results) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Evaluation: %s\n\nProvider %s, ycbot %s, %d cases. docs/eval.md says how to read this.\n\n", cell(res.Setup.Model), cell(res.Setup.Provider), res.Setup.Ycbot, res.Total.Cases)
	b.WriteString("| | all |")
	for _, g := range groups() {
		if _, ok := res.Groups[g]; ok {
			fmt.Fprintf(&b, " %s |", g)
		}
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat("---|", len(res.Groups)))
	total := res.Total.lines()
	for i, line := range total {
		fmt.Fprintf(&b, "| %s | %s |", line[0], line[1])
		for _, g := range groups() {
			if s, ok := res.Groups[g]; ok {
				fmt.Fprintf(&b, " %s |", s.lines()[i][1])
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| case | kind | verdict | | struck out | repairs | tokens | cost | time | what is wrong | what the agents say |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range res.Cases {
		says := r.Error
		if says == "" {
			says = r.says()
		}
		fmt.Fprintf(&b, "| [%s](%s/report.md) | %s | %s | %s | %d | %d | %d | %s | %s | %s | %s |\n", r.Case, r.Run, cmp.Or(r.Kind, string(r.Group)), r.Verdict, r.mark(), r.Struck, r.Repairs, r.InputTokens+r.OutputTokens, dollars(r.CostUSD), seconds(r.DurationMS), cell(cmp.Or(r.Wrong, "–")), cell(cmp.Or(says, "–")))
	}
	return b.String()
}

// says names the checks that fail, else why a run is not better.
func (r Result) says() string {
	var out []string
	for _, c := range r.Checks {
		if c.Result == report.ResultFail {
			out = append(out, fmt.Sprintf("%s (%s, %s)", c.Title, c.Support, c.Reproduction))
		}
	}
	if len(out) == 0 {
		out = r.Reasons
	}
	return strings.Join(out, "; ")
}

// text is the table that is printed.
func (res *Results) text() string {
	var b strings.Builder
	for _, r := range res.Cases {
		fmt.Fprintf(&b, "%-36s %-13s %-8s %-11s %d struck out %d repairs %9d tokens %9s %8s  %s\n", r.Case, cmp.Or(r.Kind, string(r.Group)), r.Verdict, r.mark(), r.Struck, r.Repairs, r.InputTokens+r.OutputTokens, dollars(r.CostUSD), seconds(r.DurationMS), oneLine(cmp.Or(r.Error, r.says())))
	}
	b.WriteString("\n")
	for _, line := range res.Total.lines() {
		fmt.Fprintf(&b, "%-24s %s\n", line[0], line[1])
	}
	return b.String()
}

// lines are the names and values of a score.
func (s Score) lines() [][2]string {
	per, middle := "–", "–"
	if s.TokensPerVerdict != nil {
		per = fmt.Sprintf("%.0f", *s.TokensPerVerdict)
	}
	if s.MedianMS != nil {
		middle = seconds(*s.MedianMS)
	}
	return [][2]string{
		{"cases", fmt.Sprintf("%d (%d good, %d bad)", s.Cases, s.Good, s.Bad)},
		{"precision", fraction(s.Precision, s.TrueFails, s.TrueFails+s.FalseFails)},
		{"recall", fraction(s.Recall, s.TrueFails, s.Bad)},
		{"false FAILs on good", fmt.Sprintf("%d of %d", s.FalseFails, s.Good)},
		{"PARTIAL", fraction(s.PartialOf, s.Partial, s.Cases)},
		{"no verdict", fmt.Sprint(s.NoVerdict)},
		{"bad named by the gate", fraction(ratio(float64(s.Named), s.Bad), s.Named, s.Bad)},
		{"bad named, no test", fraction(ratio(float64(s.Open), s.Bad), s.Open, s.Bad)},
		{"good named, no test", fraction(ratio(float64(s.OpenGood), s.Good), s.OpenGood, s.Good)},
		{"checks struck out", fmt.Sprintf("%d of %d", s.Struck, s.Checks)},
		{"repair turns", fmt.Sprint(s.Repairs)},
		{"tokens per verdict", per},
		{"cost per verdict", dollars(s.CostPerVerdictUSD)},
		{"cost", dollars(s.CostUSD)},
		{"median time", middle},
	}
}

func fraction(r *float64, part, whole int) string {
	if r == nil {
		return fmt.Sprintf("– (%d of %d)", part, whole)
	}
	return fmt.Sprintf("%.0f %% (%d of %d)", 100**r, part, whole)
}

func dollars(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("$%.4f", *v)
}

// oneLine is text from a report, whose words may be the model's, on one short line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)), " ")
	if r := []rune(s); len(r) > 160 {
		return string(r[:159]) + "…"
	}
	return s
}

// cell is such text in a Markdown table.
func cell(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "[", `\[`, "]", `\]`, "`", "'", "@", "@\u200b").Replace(oneLine(s))
}
