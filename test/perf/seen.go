package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// console is the name of what a script's commands write, beside its reports.
const console = "console"

// seen are the texts that people see of scripts whose files are in dir and whose
// log is out: each report by its place, as SCRIPT/DIR, and the console of each script.
// What differs between two runs of one program is named by what it is.
func seen(dir, out string) (map[string]string, error) {
	said, err := reports(dir)
	for name, text := range consoles(out) {
		said[name+"/"+console] = text
	}
	return said, err
}

// A reported run is one report.
type reported struct {
	place, text string
	began       time.Time
}

// reports are the reports below dir: report.md and report.json, one after the other.
func reports(dir string) (map[string]string, error) {
	var all []reported
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "report.json" {
			return nil //nolint:nilerr // what commands made unreadable holds no report
		}
		r, err := readReport(dir, name)
		if err == nil && r.text != "" {
			all = append(all, r)
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b reported) int {
		return cmp.Or(cmp.Compare(a.place, b.place), a.began.Compare(b.began))
	})
	said := map[string]string{}
	for i, n := 0, 1; i < len(all); i, n = i+1, n+1 {
		place := all[i].place
		if i == 0 || all[i-1].place != place {
			n = 1
		}
		if n > 1 {
			place = fmt.Sprint(place, "-", n)
		}
		said[place] = all[i].text
	}
	return said, err
}

// Facts are what report.json has of the verdict; report.md does not show all of it.
type facts struct {
	Verdict    string
	Outcome    string
	Reasons    []string
	Checks     []json.RawMessage
	Findings   []json.RawMessage
	Tests      json.RawMessage
	NotCovered []string `json:"not_covered"`
}

func (f facts) String() string {
	lines := append([]string{"verdict " + f.Verdict, "outcome " + f.Outcome}, f.Reasons...)
	for _, c := range f.Checks {
		lines = append(lines, "check "+compact(c))
	}
	for _, c := range f.Findings {
		lines = append(lines, "finding "+compact(c))
	}
	lines = append(lines, "tests "+compact(f.Tests))
	return strings.Join(append(lines, f.NotCovered...), "\n")
}

func compact(text json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return "none"
	}
	return out.String()
}

// readReport reads a report.json and the report.md beside it. A report.json that a
// script made to be refused has no text.
func readReport(dir, name string) (reported, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return reported{}, err
	}
	var r struct {
		RunID   string `json:"run_id"`
		Base    string `json:"base_sha"`
		Head    string `json:"head_sha"`
		Timings struct{ Started time.Time }
		facts
	}
	if json.Unmarshal(data, &r) != nil || len(r.Base) < short || len(r.Head) < short {
		return reported{}, nil
	}
	page, err := os.ReadFile(filepath.Join(filepath.Dir(name), "report.md"))
	if err != nil {
		page = []byte("no report.md\n")
	}
	place, err := filepath.Rel(dir, filepath.Dir(name))
	text := strings.NewReplacer(dir+"/script-", "DIR/", r.Base, "BASE", r.Base[:short], "BASE", r.Head, "HEAD", r.Head[:short], "HEAD").
		Replace(string(page) + r.String())
	return reported{place: plain(strings.TrimPrefix(filepath.ToSlash(place), "script-")), text: plain(text), began: r.Timings.Started}, err
}

// short is how many digits of a commit a report shows.
const short = 12

// consoles are what the log of verbose scripts has of each of them: commands, what
// they wrote, and how they ended.
func consoles(out string) map[string]string {
	said := map[string]string{}
	script := ""
	var lines []string
	end := func() {
		if i := slices.Index(lines, ""); script != "" && i >= 0 { // what is above is the environment
			said[script] = settled(plain(unwrapped(strings.Join(owned(lines[i:]), "\n"))))
		}
		lines = nil
	}
	for line := range strings.Lines(out) {
		if _, name, ok := strings.Cut(line, " TestScript/"); ok && strings.HasPrefix(line, "=== ") {
			end()
			script = strings.TrimSpace(name)
			continue
		}
		if indented, ok := strings.CutPrefix(strings.TrimRight(line, " \n"), "        "); ok || indented == "" {
			lines = append(lines, indented)
		}
	}
	end()
	return said
}
