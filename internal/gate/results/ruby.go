package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// A rspecExample is one of the JSON of rspec.
type rspecExample struct {
	ID, Description string
	FullDescription string `json:"full_description"`
	FilePath        string `json:"file_path"`
	Line            int    `json:"line_number"`
	Status          string
	RunTime         float64 `json:"run_time"`
	Exception       struct {
		Class, Message string
		Backtrace      []string
	}

	place []int
}

// rspecPlace is the place of an example in the file that was loaded, by its id, such as
// ./spec/a_spec.rb[1:2:1]; empty: it has none.
func rspecPlace(id string) []int {
	var out []int
	_, place, _ := strings.Cut(strings.TrimSuffix(id, "]"), "[")
	for n := range strings.SplitSeq(place, ":") {
		if i, err := strconv.Atoi(n); err == nil {
			out = append(out, i)
		}
	}
	return out
}

// ParseRSpec reads the JSON of rspec, in the order in which files have their examples: that in
// which they ran may be random. Files that cannot be loaded are only counted there, with a message
// each.
func ParseRSpec(data []byte) ([]Outcome, error) {
	var doc struct {
		Messages []string
		Summary  struct {
			Failed  int `json:"failure_count"`
			Outside int `json:"errors_outside_of_examples_count"`
		}
		Examples []rspecExample
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of rspec: %w", err)
	}
	var out []Outcome
	for i, e := range doc.Examples {
		doc.Examples[i].place = rspecPlace(e.ID)
	}
	sorted.By(doc.Examples, func(a, b rspecExample) int {
		return cmp.Or(slices.Compare(a.place, b.place), cmp.Compare(a.Line, b.Line))
	})
	for _, e := range doc.Examples {
		// A shared example stands in another file than the one that was loaded and can be run again.
		file := e.FilePath
		loaded, place, ok := strings.Cut(e.ID, "[")
		if ok {
			file = loaded
		}
		o := Outcome{pkg: strings.TrimPrefix(file, "./"), name: e.FullDescription, elapsed: time.Duration(e.RunTime * float64(time.Second)), status: Skipped, place: place}
		switch e.Status {
		case "passed":
			o.status = Passed
		case "failed":
			o.status = Failed
			if strings.HasPrefix(e.Description, "example at ") { // what the matcher would have said comes after it
				o.name, o.nameless = strings.TrimSpace(o.name), true
			}
			o.output = Short(e.Exception.Class + ": " + e.Exception.Message + "\n" + strings.Join(e.Exception.Backtrace[:min(5, len(e.Exception.Backtrace))], "\n"))
		}
		out = append(out, o)
	}
	failed := countFailed(out)
	for _, m := range doc.Messages {
		if at := rspecLoad.FindStringSubmatch(m); at != nil {
			out = append(out, Outcome{pkg: strings.TrimPrefix(at[1], "./"), status: Failed, output: Short(plainText(m))})
		}
	}
	if err := disagree(doc.Summary.Failed, failed); err != nil {
		return out, err
	}
	return out, disagree(doc.Summary.Outside, countFailed(out)-failed)
}

var rspecLoad = pattern.New(`An error occurred while loading (\S+?)\.?\s`)

// ParseMinitest reads what our runner of Minitest and test-unit writes.
// Tests come in the order in which they stand, as they run at random.
func ParseMinitest(data []byte) ([]Outcome, error) {
	out, err := ownLines("minitest", data)
	sorted.By(out, func(a, b Outcome) int { return cmp.Compare(a.line, b.line) })
	return out, err
}
