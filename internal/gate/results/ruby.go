package results

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
)

// ParseRSpec reads the JSON of rspec. Files that cannot be loaded are only counted
// there, with a message each.
func ParseRSpec(data []byte) ([]Outcome, error) {
	var doc struct {
		Messages []string
		Summary  struct {
			Failed  int `json:"failure_count"`
			Outside int `json:"errors_outside_of_examples_count"`
		}
		Examples []struct {
			ID              string
			FullDescription string `json:"full_description"`
			FilePath        string `json:"file_path"`
			Status          string
			RunTime         float64 `json:"run_time"`
			Exception       struct {
				Class, Message string
				Backtrace      []string
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of rspec: %w", err)
	}
	var out []Outcome
	for _, e := range doc.Examples {
		// A shared example stands in another file than the one that was loaded and can be run again.
		file := e.FilePath
		if loaded, _, ok := strings.Cut(e.ID, "["); ok {
			file = loaded
		}
		o := Outcome{pkg: strings.TrimPrefix(file, "./"), name: e.FullDescription, elapsed: time.Duration(e.RunTime * float64(time.Second)), status: Skipped}
		switch e.Status {
		case "passed":
			o.status = Passed
		case "failed":
			o.status = Failed
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
func ParseMinitest(data []byte) ([]Outcome, error) { return ownLines("minitest", data) }
