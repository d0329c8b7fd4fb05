package run

import (
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// A Pull is a pull request whose commits were pinned before the run: by object
// id, so that what is verified is what someone looked at. All text of it was
// written by strangers.
type Pull struct {
	Repo             string // "owner/name"
	Number           int    // 0: a range of a merge queue
	From             git.Remote
	Base, Head       string // object ids
	BaseRef, HeadRef string // as people name them
	Title, Body      string
	Said             []Said // what else belongs to the task: linked issues, the discussion so far
	Asked            string // words of the person who asked for this run
	// Seen is the pull request as the tools of agents show it; nil: they have none.
	Seen *tool.Pull
}

// root is what the project is known by.
func (p *Pull) root() string { return strings.TrimSuffix(p.From.URL, ".git") }

// A Said is a text and where it comes from.
type Said struct {
	Where string // such as "issue #12" or "comment of alice"
	Text  string
}

// source is what is known of the change without its commits.
func (p *Pull) source() rundir.Source {
	return rundir.Source{
		BaseRef: p.BaseRef, HeadRef: p.HeadRef,
		Change: change.Change{Repo: p.Repo, PR: p.Number, BaseSHA: p.Base, HeadSHA: p.Head, Title: p.Title, Task: p.task()},
	}
}

// task is what the change is said to do.
func (p *Pull) task() string {
	var b strings.Builder
	write := func(heading, text string) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		if heading != "" {
			b.WriteString(heading + ":\n")
		}
		b.WriteString(text)
	}
	write("", p.Title)
	write("", p.Body)
	for _, said := range p.Said {
		write(said.Where, said.Text)
	}
	write("Asked of this run", p.Asked)
	return b.String()
}

// format is the object format that an id is of.
func format(oid string) string {
	if len(oid) == 64 {
		return "sha256"
	}
	return "sha1"
}
