package git

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
)

// A RawChange is one record of git's raw diff format.
type RawChange struct {
	OldMode, NewMode, OldOID, NewOID string
	Status                           byte
	OldPath, Path                    string
}

// ParseRaw reads a raw diff made with -z.
func ParseRaw(out []byte) ([]RawChange, error) {
	records, rest, err := cutRaw(strings.Split(string(out), "\x00"))
	if err == nil && len(rest) > 0 && rest[0] != "" {
		err = fmt.Errorf("raw diff: unexpected %q", rest[0])
	}
	return records, err
}

// cutRaw reads raw records as long as there are any.
func cutRaw(parts []string) ([]RawChange, []string, error) {
	var records []RawChange
	for len(parts) > 1 && strings.HasPrefix(parts[0], ":") {
		f := strings.Fields(parts[0][1:])
		if len(f) != 5 {
			return nil, nil, fmt.Errorf("raw diff: unexpected %q", parts[0])
		}
		r := RawChange{OldMode: f[0], NewMode: f[1], OldOID: f[2], NewOID: f[3], Status: f[4][0], Path: parts[1]}
		parts = parts[2:]
		if r.Status == 'R' || r.Status == 'C' {
			if len(parts) < 2 {
				return nil, nil, fmt.Errorf("raw diff: %q has no second path", r.Path)
			}
			r.OldPath, r.Path = r.Path, parts[0]
			parts = parts[1:]
		}
		records = append(records, r)
	}
	return records, parts, nil
}

// ParseDiff reads a raw diff followed by line counts, both made with -z.
func ParseDiff(out []byte) ([]change.File, error) {
	records, parts, err := cutRaw(strings.Split(string(out), "\x00"))
	if err != nil {
		return nil, err
	}
	files := make([]change.File, 0, len(records))
	at := map[string]int{}
	for _, r := range records {
		s, err := status(r)
		if err != nil {
			return nil, err
		}
		at[r.Path] = len(files)
		files = append(files, change.File{Path: r.Path, OldPath: r.OldPath, Status: s})
	}
	for len(parts) > 0 && parts[0] != "" {
		f := strings.SplitN(parts[0], "\t", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("line counts: unexpected %q", parts[0])
		}
		path := f[2]
		parts = parts[1:]
		if path == "" { // a rename: the old and the new path follow
			if len(parts) < 2 {
				return nil, fmt.Errorf("line counts: a rename without paths")
			}
			path = parts[1]
			parts = parts[2:]
		}
		i, ok := at[path]
		if !ok {
			return nil, fmt.Errorf("line counts: %q is not in the raw diff", path)
		}
		if f[0] == "-" {
			files[i].Binary = true
			continue
		}
		added, _ := strconv.Atoi(f[0])
		deleted, _ := strconv.Atoi(f[1])
		files[i].Added += added // a retyped file is counted in two lines
		files[i].Deleted += deleted
	}
	return files, nil
}

func status(r RawChange) (change.Status, error) {
	switch r.Status {
	case 'A':
		return change.Added, nil
	case 'M':
		return change.Modified, nil
	case 'D':
		return change.Deleted, nil
	case 'R':
		return change.Renamed, nil
	case 'C':
		return change.Copied, nil
	case 'T':
		return change.Retyped, nil
	}
	return "", fmt.Errorf("raw diff: unknown status %q of %q", r.Status, r.Path)
}
