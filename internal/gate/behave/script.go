package behave

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// A Source is a file on both sides.
type Source struct {
	Path string `json:"path"` // in the folder where the calls are made
	Base string `json:"base"`
	Head string `json:"head"`
}

// A Script is calls by a driver that finds the functions itself, in the texts of both sides.
type Script struct {
	Driver  string // its text, without the call of main
	Dir     string // where it runs, in the repository
	Comment string // what a line of comment begins with
	Call    string // the last line, which hands over the texts where it says DATA
	Modules []Source
	Tests   []Source
}

// About is what a driver has found of a function; of none where At is negative, which has
// what is true of all.
type About struct {
	At              int
	Name, Path      string
	Line            int
	Method          bool
	Tested, Touched []string
	Awaited         bool
	Sign            string // its parameters, where the driver sees one side
	Resigned        []string
	Left            int
}

// File is the driver with the texts of both sides.
func (s Script) File(string) string {
	// Lists, also where there are none.
	data, err := json.Marshal(map[string][]Source{"modules": append([]Source{}, s.Modules...), "tests": append([]Source{}, s.Tests...)})
	if err != nil { // strings always can be written
		return ""
	}
	return s.Driver + strings.ReplaceAll(s.Call, "DATA", base64.StdEncoding.EncodeToString(data)) + "\n"
}

// Compare holds the answers of both sides against each other.
func (s Script) Compare(base, head Answers) Comparison {
	var out Comparison
	if all := base[""].About; all != nil {
		out = resigned(all.Resigned)
		out.Left = all.Left
	}
	var found []Compared
	for key, a := range base {
		if a.About == nil || a.About.At < 0 {
			continue
		}
		about := a.About
		if now := head[key].About; now != nil {
			about = now
		}
		f := Function{Name: about.Name, Path: about.Path, Line: about.Line, Method: about.Method, Tested: about.Tested, Touched: about.Touched, Awaited: about.Awaited}
		if s.Dir != "." {
			f.Path = s.Dir + "/" + f.Path
		}
		if about.Sign != a.About.Sign {
			found = append(found, Compared{Function: f, Key: key, Unlike: Resigned})
			continue
		}
		found = append(found, compare(f, key, a.About.At, base, head))
	}
	sorted.By(found, func(a, b Compared) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), a.Line-b.Line, cmp.Compare(a.Key, b.Key))
	})
	out.Functions = append(out.Functions, found...)
	return out
}

// Test is what the driver wrote for a call.
func (s Script) Test(_ Function, was Call) string {
	return strings.Join(was.Check, "\n") + "\n" + s.Comment + " without the change it " + was.Says() + "\n"
}
