package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Config is the whole configuration of a repository of ours.
//
// checkStat and trustctime make an index hold for a copy of the tree it was
// made for: the copy's files have other inodes and change times.
func Config(format string, bare bool) string {
	version, extension := 0, ""
	if format == "sha256" {
		version, extension = 1, "[extensions]\n\tobjectformat = sha256\n"
	}
	stat := ""
	if bare {
		stat = "\tcheckStat = minimal\n\ttrustctime = false\n"
	}
	return fmt.Sprintf("[core]\n\trepositoryformatversion = %d\n\tbare = %t\n\tfilemode = true\n%s"+
		"\tlogAllRefUpdates = false\n\thooksPath = /dev/null\n\tfsmonitor = false\n"+
		"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[submodule]\n\trecurse = false\n%s",
		version, bare, stat, extension)
}

// Quote quotes a path the way git reads it in its own files.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Shallow returns the commits at which the history in a git directory is cut off.
func Shallow(gitDir string) []string {
	data, err := os.ReadFile(filepath.Join(gitDir, "shallow"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}
