package workspace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
)

// A rawChange is one record of git's raw diff format.
type rawChange struct {
	oldMode, newMode, oldOID, newOID string
	status                           byte
	oldPath, path                    string
}

// parseRaw reads a raw diff made with -z.
func parseRaw(out []byte) ([]rawChange, error) {
	records, rest, err := cutRaw(strings.Split(string(out), "\x00"))
	if err == nil && len(rest) > 0 && rest[0] != "" {
		err = fmt.Errorf("raw diff: unexpected %q", rest[0])
	}
	return records, err
}

// cutRaw reads raw records as long as there are any.
func cutRaw(parts []string) ([]rawChange, []string, error) {
	var records []rawChange
	for len(parts) > 1 && strings.HasPrefix(parts[0], ":") {
		f := strings.Fields(parts[0][1:])
		if len(f) != 5 {
			return nil, nil, fmt.Errorf("raw diff: unexpected %q", parts[0])
		}
		r := rawChange{oldMode: f[0], newMode: f[1], oldOID: f[2], newOID: f[3], status: f[4][0], path: parts[1]}
		parts = parts[2:]
		if r.status == 'R' || r.status == 'C' {
			if len(parts) < 2 {
				return nil, nil, fmt.Errorf("raw diff: %q has no second path", r.path)
			}
			r.oldPath, r.path = r.path, parts[0]
			parts = parts[1:]
		}
		records = append(records, r)
	}
	return records, parts, nil
}

// parseDiff reads a raw diff followed by line counts, both made with -z.
func parseDiff(out []byte) ([]change.File, error) {
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
		at[r.path] = len(files)
		files = append(files, change.File{Path: r.path, OldPath: r.oldPath, Status: s})
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

func status(r rawChange) (change.Status, error) {
	switch r.status {
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
	return "", fmt.Errorf("raw diff: unknown status %q of %q", r.status, r.path)
}
