package pullrun

import (
	"testing"

	"github.com/ycbot/ycbot/internal/github"
)

// Only the last paragraph of the head commit's message has trailers, and a subject is none.
func TestTrailer(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Round down\n\nAs banks do.\n\nChanges-behaviour: the old limit was wrong\nReviewed-by: bob": "the old limit was wrong",
		"Round down\r\n\r\nchanges-BEHAVIOUR:  so it is\r\n":                                         "so it is",
		"Round down\n\nChanges-behaviour: not in the last paragraph\n\nReviewed-by: bob":             "",
		"Changes-behaviour: a subject":                                                               "",
		"Round down\n\nIt says Changes-behaviour: in a line":                                         "",
		"Round down": "",
	} {
		commits := []github.Commit{{SHA: "old", Message: "x\n\nChanges-behaviour: of an older commit"}, {SHA: "head", Message: message}}
		if got, ok := trailer(commits, "head"); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", message, got, ok, want)
		}
	}
}
