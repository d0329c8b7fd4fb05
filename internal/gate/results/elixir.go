package results

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	mixApp    = pattern.New(`^==> (\w+)$`)
	mixModule = pattern.New(`^([\w.]+) \[(.+\.exs)\]$`)
	mixTest   = pattern.New(`^\s+\* (test .+?|doctest .+?|property .+?) \((\d+(?:\.\d+)?ms|skipped|excluded)\)(?: \[L#\d+\])?$`)
	mixEnd    = pattern.New(`^(?:\d+ \w+, )+(\d+) failures?\b`)
	mixSetUp  = pattern.New(`^\s+\d+\) ([\w.]+): failure on (setup_all callback)`)
	mixFailed = pattern.New(`^\s+\d+\) (test .+|doctest .+|property .+) \(([\w.]+)\)$`)
)

// ParseMix reads the text of "mix test --trace".
func ParseMix(data []byte) ([]Outcome, error) { return parseMix(nil, data) }

// ParseUmbrella reads that of an umbrella, whose applications name files from their own folders: these
// are given by their names.
func ParseUmbrella(folders map[string]string) func([]byte) ([]Outcome, error) {
	return func(data []byte) ([]Outcome, error) { return parseMix(folders, data) }
}

func parseMix(folders map[string]string, data []byte) ([]Outcome, error) {
	var out []Outcome
	app := ""
	for _, folder := range folders {
		if len(folders) == 1 { // which mix need not name
			app = folder
		}
	}
	file, module, said := "", "", saying{at: -1}
	invalid := map[string]int{}  // by module, how many of its tests are known to have failed with it
	within := map[string][]int{} // by module, where its tests stand in out
	type key struct{ module, name string }
	tests, counted, failed := map[key]int{}, 0, 0
	for line := range bytes.Lines(data) {
		text := plainText(string(line))
		if i := strings.LastIndexByte(strings.TrimRight(text, "\r\n"), '\r'); i >= 0 {
			text = text[i+1:] // a line that was written over
		}
		text = strings.TrimRight(text, "\r\n")
		if m := mixApp.FindStringSubmatch(text); m != nil && folders[m[1]] != "" {
			app = folders[m[1]]
			continue
		}
		if m := mixModule.FindStringSubmatch(text); m != nil {
			file, module = path.Join(app, m[2]), m[1]
			continue
		}
		if m := mixTest.FindStringSubmatch(text); m != nil && file != "" {
			o := Outcome{pkg: file, name: m[1], status: Passed}
			if !strings.HasSuffix(m[2], "ms") {
				o.status = Skipped
			}
			said.begin(out, -1)
			if _, twice := tests[key{module, o.name}]; !twice {
				tests[key{module, o.name}] = len(out)
			}
			out, within[module] = append(out, o), append(within[module], len(out))
			continue
		}
		if m := mixSetUp.FindStringSubmatch(text); m != nil { // none of its tests ran; they are counted apart
			at := -1
			if all := within[m[1]]; len(all) > 0 {
				at = all[0]
				for _, i := range all[invalid[m[1]]:] {
					out[i].status, out[i].output = Failed, m[2]+" fails"
				}
			}
			invalid[m[1]] = len(within[m[1]]) // of those before nothing more can be said
			said.begin(out, at)
			continue
		}
		if m := mixFailed.FindStringSubmatch(text); m != nil {
			at, ok := tests[key{m[2], m[1]}]
			if !ok {
				at = -1
			} else {
				out[at].status = Failed
				failed++
			}
			said.begin(out, at)
			continue
		}
		if m := mixEnd.FindStringSubmatch(text); m != nil {
			n, _ := strconv.Atoi(m[1]) // too long a number counts nothing that there is
			counted += n
		}
		if text = strings.TrimSpace(text); text == "" {
			said.begin(out, -1)
		} else {
			said.line(text)
		}
	}
	said.begin(out, -1)
	nameDoctests(out)
	for module, list := range within {
		for _, i := range list {
			if !ofFile(out[i].pkg, module) {
				out[i].name = module + NameSep + out[i].name
			}
		}
	}
	return out, disagree(counted, failed)
}

// ofFile says whether a module is the one that a file of tests is called after. Tests of others in it,
// which may have the same names, are called by theirs.
func ofFile(file, module string) bool {
	base := strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(path.Base(file), ".exs"), "_", ""))
	module = strings.ToLower(strings.ReplaceAll(module, ".", ""))
	return strings.HasSuffix(module, base) || strings.HasSuffix(module, strings.TrimSuffix(base, "test"))
}

// mixDoctest is the name of a doctest: what it is of, the arity of that, and its number among all
// of the module (https://hexdocs.pm/ex_unit/ExUnit.DocTest.html).
var mixDoctest = pattern.New(`^(doctest .+?)(?:/\d+)? \((\d+)\)$`)

// nameDoctests leaves out what another example before them, or another argument, changes. Of
// several of one function the numbers are its own.
func nameDoctests(out []Outcome) {
	type key struct{ pkg, name string }
	numbers := map[key][]int{}
	parted := func(o Outcome) (key, int, bool) {
		m := mixDoctest.FindStringSubmatch(o.name)
		if m == nil {
			return key{}, 0, false
		}
		n, _ := strconv.Atoi(m[2]) // too long a number is that of none
		return key{o.pkg, m[1]}, n, true
	}
	for _, o := range out {
		if k, n, ok := parted(o); ok {
			numbers[k] = append(numbers[k], n)
		}
	}
	for _, list := range numbers {
		slices.Sort(list)
	}
	for i, o := range out {
		k, n, ok := parted(o)
		if !ok {
			continue
		}
		out[i].name = k.name
		if at, _ := slices.BinarySearch(numbers[k], n); at > 0 {
			out[i].name += "[" + strconv.Itoa(at+1) + "]"
		}
	}
}
