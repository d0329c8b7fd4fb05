package ecosystem

import (
	"path"
	"path/filepath"
	"strings"
)

// Forwarding makes sources that lead to others.
type Forwarding struct {
	// Whole is a source that stands where one stood before it moved; nil: none can.
	Whole func(Moved) []byte

	// Offers are the names that a source offers to others, and Names is one with those that moved
	// out of it; nil: none can. Both are nil where names are not found by their sources.
	Offers func(src []byte) []string
	Names  func(Scattered) []byte
}

// Moved is a source that a change moves.
type Moved struct {
	Old, New string   // its paths in the repository
	Source   []byte   // what it is now
	Wanted   [][]byte // sources that can ask for it where it was
}

// Way is the path that leads from the folder of the old place to the new one, with ./ or ../
// at its beginning.
func (m Moved) Way() string {
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(m.Old)), filepath.FromSlash(m.New))
	if err != nil {
		return m.New // both are relative to the repository, so that there is always a way
	}
	if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, "../") {
		rel = "./" + rel
	}
	return rel
}

// Scattered is a source of which a change moves names to others.
type Scattered struct {
	Old  string            // its path in the repository
	Rest []byte            // what is left there; nil: nothing
	To   map[string]string // the paths of the sources that offer the names now
	Any  []byte            // one of these sources
	// Wanted are sources that can ask for a name where it was.
	Wanted [][]byte
}

// WayTo is the path that leads from the folder of the old place to one that a name moved to, as
// Moved.Way.
func (s Scattered) WayTo(name string) string { return Moved{Old: s.Old, New: s.To[name]}.Way() }
