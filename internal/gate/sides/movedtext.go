package sides

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	quoted  = pattern.New("'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`")
	imports = pattern.New(`(?m)^\s*(?:from\s+[\w.]+\s+)?import\s+[^\n]*$`)
)

// MovedTextStands says whether all lines of the file of a test of the base stand in the head's, in
// their order, but for how they name sources that the change moves.
func (r *Reader) MovedTextStands(file string) bool {
	v := r.Texts[file]
	head := v.Head
	if to := r.MovedTo(file); to != file {
		head = r.Texts[to].Head
	}
	if v.Base == nil || head == nil {
		return false
	}
	var names, stems []string
	for _, f := range r.moves().sources {
		names = append(names, f.OldPath, f.Path)
	}
	for _, s := range r.moves().out {
		names = append(slices.AppendSeq(names, maps.Values(s.To)), s.Old)
	}
	for _, name := range names {
		stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
		if stem == "index" || stem == "__init__" || stem == "mod" {
			stem = path.Base(path.Dir(name))
		}
		stems = append(stems, stem)
	}
	masked := func(src []byte) string {
		mask := func(said string) string {
			for _, stem := range stems {
				if namesPart(said, stem) {
					return "…"
				}
			}
			return said
		}
		return quoted.ReplaceAllStringFunc(imports.ReplaceAllStringFunc(string(src), mask), mask)
	}
	rest := strings.Split(masked(head), "\n")
	for line := range strings.SplitSeq(masked(v.Base), "\n") {
		at := slices.Index(rest, line)
		if at < 0 {
			return false
		}
		rest = rest[at+1:]
	}
	return true
}

// namesPart says whether a path, or a name with dots, has a part that is stem.
func namesPart(said, stem string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(said, func(c rune) bool { return strings.ContainsRune("\"'`/\\ ,;()\t", c) }), func(part string) bool {
		return part == stem || strings.HasPrefix(part, stem+".") || strings.HasSuffix(part, "."+stem) || strings.Contains(part, "."+stem+".")
	})
}
