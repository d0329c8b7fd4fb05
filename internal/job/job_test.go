package job

import (
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
)

// The same work has one identity, however it was asked for by itself; each
// request of a person has one of its own.
func TestIdentity(t *testing.T) {
	t.Parallel()
	id := func(e *event.Event) string { return admit(t, e).ID }
	first := id(pull("opened"))
	for what, e := range map[string]*event.Event{
		"another delivery": pull("opened", func(e *event.Event) { e.Delivery = "d-2" }),
		"another action":   pull("synchronize"),
		"another event":    pull("opened", target),
		"another time":     pull("opened", func(e *event.Event) { e.At = time.Unix(1, 0) }),
		"a new name":       pull("opened", func(e *event.Event) { e.Repo.Name = "gadget" }),
	} {
		if id(e) != first {
			t.Errorf("%s: another identity", what)
		}
	}
	seen := map[string]string{first: "the first"}
	for what, e := range map[string]*event.Event{
		"another repository":   pull("opened", func(e *event.Event) { e.Repo.ID = 101 }),
		"another pull request": pull("opened", func(e *event.Event) { e.Number = 8 }),
		"another base":         pull("opened", func(e *event.Event) { e.Pull.Base.SHA = tipSHA }),
		"another head":         pull("opened", func(e *event.Event) { e.Pull.Head.SHA = newerSHA }),
		"a label":              pull("labeled", func(e *event.Event) { e.Label = Label }),
		"a comment":            says("/verify"),
		"another comment":      says("/verify", func(e *event.Event) { e.Comment.ID = 502 }),
	} {
		if other, ok := seen[id(e)]; ok {
			t.Errorf("%s: the identity of %s", what, other)
		}
		seen[id(e)] = what
	}
	if len(first) != 64 || strings.Trim(first, "0123456789abcdef") != "" {
		t.Errorf("identity %q", first)
	}
}

// Fields cannot run into one another, and a repository without id is known by name.
func TestIdentityIsUnambiguous(t *testing.T) {
	t.Parallel()
	pairs := [][2]Job{
		{{BaseSHA: "ab", HeadSHA: "c"}, {BaseSHA: "a", HeadSHA: "bc"}},
		{{BaseSHA: "a,1:b"}, {BaseSHA: "a", HeadSHA: "b"}},
		{{Number: 1, BaseSHA: "1"}, {Number: 11}},
		{{Repo: event.Repo{Owner: "a", Name: "b"}}, {Repo: event.Repo{Owner: "a", Name: "c"}}},
		{{HeadSHA: "a"}, {Request: "a"}},
	}
	for _, p := range pairs {
		if p[0].Identity() == p[1].Identity() {
			t.Errorf("%+v and %+v are the same", p[0], p[1])
		}
	}
	const fixed = "87e567aa760453786f683da5b59f54d567a478dfe53ad1980af38d53ee8e901b" // stored in databases and check runs: it must not change
	if got := (Job{Repo: widget, Number: 7, BaseSHA: baseSHA, HeadSHA: headSHA, Request: "comment:501"}).Identity(); got != fixed {
		t.Errorf("identity %s, want %s", got, fixed)
	}
}
