package results

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"github.com/ycbot/ycbot/internal/pattern"
)

// ParseModules reads documents of JUnit XML of which an instruction before each says where it lay.
// Where two modules have a class of one name, the tests of the second one are numbered: else
// what one of them says would stand for both. An instruction "ended" says that the build failed for
// another reason than its tests, so that modules may be missing.
func ParseModules(data []byte) ([]Outcome, error) {
	data = xmlHead.ReplaceAll(data, nil)
	dec := xml.NewDecoder(bytes.NewReader(data))
	type part struct {
		module string
		at     int64
	}
	parts, ended := []part{{}}, ""
	for depth := 0; ; {
		tok, err := dec.RawToken()
		if err != nil {
			break // at the end, or where parseJUnit ends, too
		}
		switch t := tok.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.ProcInst:
			if depth == 0 && t.Target == "ended" && ended == "" {
				ended = string(t.Inst)
				parts = append(parts, part{at: dec.InputOffset()})
			}
			if depth == 0 && t.Target == "module" {
				parts = append(parts, part{reportFolder.ReplaceAllString(string(t.Inst), ""), dec.InputOffset()})
			}
		}
	}
	var out []Outcome
	type test struct{ pkg, name, module string }
	modules := map[test]int{} // how many have a test, by its package and name, and which of them a module is
	for i, p := range parts {
		end := int64(len(data))
		if i+1 < len(parts) {
			end = parts[i+1].at
		}
		if len(bytes.TrimSpace(data[p.at:end])) == 0 {
			continue
		}
		all, err := parseJUnit(byClass)(data[p.at:end])
		for _, o := range all {
			all, own := test{o.pkg, o.name, "\x00"}, test{o.pkg, o.name, p.module}
			if o.name != "" && modules[own] == 0 {
				modules[all]++
				modules[own] = modules[all]
			}
			if n := modules[own]; n > 1 {
				o.name = fmt.Sprintf("%s[%d]", o.name, n)
			}
			out = append(out, o)
		}
		if err != nil {
			return out, err
		}
	}
	if ended != "" && len(out) > 0 { // else that there is no test says it
		return out, fmt.Errorf("the build ended with exit code %.20s for another reason than a test that fails, so that some may be missing", ended)
	}
	return out, nil
}

// reportFolder is where Surefire, ScalaTest and Gradle keep the reports of a module, below it.
var reportFolder = pattern.New(`/[^/]+/(?:surefire-reports|scalatest-reports|test-results)/.*$`)
