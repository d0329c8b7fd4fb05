package results

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ParseTRX reads the results of Visual Studio's test platform: one document, or
// several after one another.
func ParseTRX(data []byte) ([]Outcome, error) {
	data = xmlHead.ReplaceAll(data, nil)
	if _, err := tameXML(data); err != nil {
		return nil, fmt.Errorf("TRX: %w", err)
	}
	type run struct {
		Counters []struct {
			Failed int `xml:"failed,attr"`
		} `xml:"ResultSummary>Counters"`
		Results struct {
			Unit []struct {
				TestID   string `xml:"testId,attr"`
				Name     string `xml:"testName,attr"`
				Outcome  string `xml:"outcome,attr"`
				Duration string `xml:"duration,attr"`
				Output   struct {
					StdOut    string
					ErrorInfo struct{ Message, StackTrace string }
				}
			} `xml:"UnitTestResult"`
		}
		Definitions struct {
			Tests []struct {
				ID     string `xml:"id,attr"`
				Method struct {
					Class string `xml:"className,attr"`
				} `xml:"TestMethod"`
			} `xml:"UnitTest"`
		} `xml:"TestDefinitions"`
	}
	var doc struct {
		Runs []run `xml:"TestRun"`
	}
	data = slices.Concat([]byte("<all>"), data, []byte("</all>"))
	if err := xml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("TRX: %w", err)
	}
	var out []Outcome
	counted := 0
	for _, r := range doc.Runs {
		for _, c := range r.Counters {
			counted += max(c.Failed, 0)
		}
		class := map[string]string{}
		for _, t := range r.Definitions.Tests {
			class[t.ID], _, _ = strings.Cut(t.Method.Class, ",")
		}
		for _, u := range r.Results.Unit {
			o := Outcome{pkg: class[u.TestID], name: strings.TrimPrefix(u.Name, class[u.TestID]+"."), elapsed: clockTime(u.Duration)}
			switch u.Outcome {
			case "Passed":
				o.status = Passed
			case "NotExecuted", "Inconclusive", "Pending":
				o.status = Skipped
			default:
				o.status = Failed
				o.output = Short(JoinOutput(JoinOutput(u.Output.ErrorInfo.Message, u.Output.ErrorInfo.StackTrace), u.Output.StdOut))
			}
			out = append(out, o)
		}
	}
	return out, disagree(counted, countFailed(out))
}

// clockTime reads "00:00:01.5".
func clockTime(s string) time.Duration {
	var h, m int
	var sec float64
	if n, err := fmt.Sscanf(s, "%d:%d:%f", &h, &m, &sec); n != 3 || err != nil {
		return 0
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(sec*float64(time.Second))
}
