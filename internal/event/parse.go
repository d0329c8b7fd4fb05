package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxSize is how many bytes a body may have: what GitHub sends at most.
const MaxSize = 25 << 20

// What Parse may answer instead of an event.
var (
	ErrIgnored   = errors.New("ignored")        // well-formed, and nothing that ycbot looks at
	ErrMalformed = errors.New("malformed")      // not what GitHub sends
	ErrTooLarge  = errors.New("body too large") // over MaxSize
)

// An interest is an event that ycbot looks at.
type interest struct {
	actions []string // nil: the event has none
	read    func(*payload, *Event) error
	of      owner
}

// An owner is what an event belongs to.
type owner int

const (
	ofRepository owner = iota
	ofInstallation
)

// interests says which events and actions become an Event.
func interests() map[string]interest {
	pull := interest{actions: []string{"opened", "synchronize", "reopened", "ready_for_review", "labeled", "edited"}, read: readPull}
	return map[string]interest{
		"pull_request":              pull,
		"pull_request_target":       pull,
		"issue_comment":             {actions: []string{"created", "edited"}, read: readComment},
		"workflow_dispatch":         {actions: nil, read: readDispatch},
		"merge_group":               {actions: []string{"checks_requested", "destroyed"}, read: readMergeGroup},
		"push":                      {actions: nil, read: readPush},
		"check_run":                 {actions: []string{"rerequested", "requested_action"}, read: readCheckRun},
		"check_suite":               {actions: []string{"rerequested"}, read: readCheckSuite},
		"installation":              {actions: []string{"deleted", "suspend", "created", "unsuspend"}, read: readInstallation, of: ofInstallation},
		"installation_repositories": {actions: []string{"removed", "added"}, read: readRepositories, of: ofInstallation},
		"workflow_run":              {actions: []string{"completed"}, read: readWorkflowRun},
	}
}

// Parse reads the body of an event that GitHub calls name. The delivery is the
// webhook's, or the run's id in Actions; it is only handed on.
//
// The error wraps ErrIgnored, ErrMalformed or ErrTooLarge. An event of
// pull_request_target is read as one of pull_request and keeps its Name: what
// may be executed differs. A comment on an issue that is no pull request has
// Issue instead of Number. An edited comment keeps its Action.
func Parse(name, delivery string, body []byte) (*Event, error) {
	e, err := parse(name, delivery, body)
	if err != nil {
		return nil, fmt.Errorf("event %q, delivery %q: %w", name, delivery, err)
	}
	return e, nil
}

func parse(name, delivery string, body []byte) (*Event, error) {
	if len(body) > MaxSize {
		return nil, fmt.Errorf("%w: %d bytes, %d are allowed", ErrTooLarge, len(body), MaxSize)
	}
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return nil, fmt.Errorf("%w: not a JSON object", ErrMalformed)
	}
	in, known := interests()[name]
	if !known && json.Valid(body) {
		return nil, fmt.Errorf("%w: ycbot does not look at this event", ErrIgnored)
	}
	var p payload
	err := json.Unmarshal(body, &p)
	action := p.Action
	if err != nil { // what is not looked at may have any form
		var head struct {
			Action string `json:"action"`
		}
		if err := json.Unmarshal(body, &head); err != nil {
			return nil, malformed(err)
		}
		action = head.Action
	}
	switch {
	case in.actions != nil && action == "":
		return nil, missing("action")
	case in.actions != nil && !slices.Contains(in.actions, action):
		return nil, fmt.Errorf("%w: ycbot does not look at action %q of this event", ErrIgnored, action)
	case err != nil:
		return nil, malformed(err)
	}
	e := &Event{Name: name, Action: p.Action, Delivery: delivery}
	if err := p.common(e, in.of); err != nil {
		return nil, err
	}
	return e, in.read(&p, e)
}

// common reads what all events carry.
func (p *payload) common(e *Event, of owner) error {
	var err error
	switch {
	case of == ofInstallation && p.Installation == nil:
		return missing("installation")
	case of == ofInstallation:
	case p.Repository == nil:
		return missing("repository")
	default:
		if e.Repo, err = p.Repository.repo("repository"); err != nil {
			return err
		}
	}
	if e.Sender, err = p.Sender.user("sender"); err != nil {
		return err
	}
	if p.Installation != nil {
		if p.Installation.ID <= 0 {
			return bad("installation.id", "not a positive number")
		}
		e.Installation = p.Installation.ID
	}
	return nil
}

func readPull(p *payload, e *Event) error {
	e.Kind = PullRequest
	in := p.PullRequest
	switch {
	case in == nil:
		return missing("pull_request")
	case in.Number <= 0:
		return bad("pull_request.number", "not a positive number")
	case p.Number != 0 && p.Number != in.Number:
		return bad("number", "differs from pull_request.number")
	}
	e.Number, e.At = in.Number, in.UpdatedAt
	out, err := in.pull(e.Repo)
	if err != nil {
		return err
	}
	e.Pull = out
	if e.Action == "synchronize" && oid(p.Before) {
		out.Before = p.Before
	}
	if e.Action == "edited" {
		if p.Changes.Base == nil {
			return fmt.Errorf("%w: an edit that leaves the base as it is", ErrIgnored)
		}
		e.Action = "synchronize" // what was verified is another change now
	}
	if e.Action == "labeled" {
		if p.Label == nil || p.Label.Name == "" {
			return missing("label.name")
		}
		e.Label = p.Label.Name
	}
	return nil
}

func readComment(p *payload, e *Event) error {
	e.Kind = Commented
	switch {
	case p.Issue == nil:
		return missing("issue")
	case p.Issue.Number <= 0:
		return bad("issue.number", "not a positive number")
	case p.Comment == nil:
		return missing("comment")
	case p.Comment.ID <= 0:
		return bad("comment.id", "not a positive number")
	case p.Comment.CreatedAt.IsZero():
		return missing("comment.created_at")
	}
	author, err := p.Comment.User.user("comment.user")
	if err != nil {
		return err
	}
	e.Comment = &Comment{ID: p.Comment.ID, Body: p.Comment.Body, Author: author, Created: p.Comment.CreatedAt, Updated: p.Comment.UpdatedAt}
	e.At = e.Comment.Created
	if e.Comment.Updated.After(e.At) {
		e.At = e.Comment.Updated
	}
	if p.Issue.PullRequest == nil {
		e.Issue = p.Issue.Number
		return nil
	}
	e.Number = p.Issue.Number
	if p.Issue.Title != "" {
		e.Text = &Text{Title: p.Issue.Title, Body: p.Issue.Body}
		if p.Issue.User != nil {
			e.Text.Author = p.Issue.User.Login
		}
	}
	return nil
}

func readDispatch(p *payload, e *Event) error {
	e.Kind = Dispatched
	if p.Ref == "" {
		return missing("ref")
	}
	e.Ref = p.Ref
	for key, raw := range p.Inputs {
		text, err := inputText(raw)
		if err != nil {
			return bad(fmt.Sprintf("inputs[%q]", key), err.Error())
		}
		if e.Inputs == nil {
			e.Inputs = map[string]string{}
		}
		e.Inputs[key] = text
	}
	return nil
}

// inputText reads an input, which is text, or a boolean or a number where the
// dispatch came through the API. None is as empty.
func inputText(raw json.RawMessage) (string, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool, json.Number:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("neither text nor boolean nor number")
}

func readMergeGroup(p *payload, e *Event) error {
	e.Kind = Queued
	if e.Action == "destroyed" {
		e.Kind = Ungrouped
		if p.Reason == "merged" {
			return fmt.Errorf("%w: what was merged may be verified to the end", ErrIgnored)
		}
	}
	g := p.MergeGroup
	switch {
	case g == nil:
		return missing("merge_group")
	case !oid(g.HeadSHA):
		return bad("merge_group.head_sha", "not an object id")
	case !oid(g.BaseSHA):
		return bad("merge_group.base_sha", "not an object id")
	case g.HeadRef == "":
		return missing("merge_group.head_ref")
	}
	e.MergeGroup = &MergeGroup{BaseSHA: g.BaseSHA, HeadSHA: g.HeadSHA, BaseRef: g.BaseRef, HeadRef: g.HeadRef}
	return nil
}

// readPush reads a push. Those to other branches than the default one, and those that make
// or delete it, are left alone.
func readPush(p *payload, e *Event) error {
	e.Kind = Pushed
	switch {
	case p.Ref == "":
		return missing("ref")
	case p.Repository.Default == "":
		return missing("repository.default_branch")
	case p.Ref != "refs/heads/"+p.Repository.Default:
		return fmt.Errorf("%w: ycbot looks at pushes to the default branch only", ErrIgnored)
	case !oid(p.Before):
		return bad("before", "not an object id")
	case !oid(p.After):
		return bad("after", "not an object id")
	case strings.Trim(p.Before, "0") == "" || strings.Trim(p.After, "0") == "":
		return fmt.Errorf("%w: the branch was made or deleted", ErrIgnored)
	}
	e.Push = &Push{Branch: p.Repository.Default, Before: p.Before, After: p.After}
	return nil
}

func readCheckRun(p *payload, e *Event) error {
	e.Kind = Rerequested
	if p.CheckRun == nil {
		return missing("check_run")
	}
	if err := p.CheckRun.read("check_run", e); err != nil {
		return err
	}
	if e.CheckRun.Name == "" {
		return missing("check_run.name")
	}
	if e.Action == "requested_action" {
		e.Kind = Pressed
		if p.RequestedAction == nil || p.RequestedAction.Identifier == "" {
			return missing("requested_action.identifier")
		}
		e.CheckRun.Identifier = p.RequestedAction.Identifier
	}
	return nil
}

func readCheckSuite(p *payload, e *Event) error {
	e.Kind = Rerequested
	if p.CheckSuite == nil {
		return missing("check_suite")
	}
	return p.CheckSuite.read("check_suite", e)
}

func readInstallation(p *payload, e *Event) error {
	if e.Action == "created" || e.Action == "unsuspend" {
		return readGranted(p, e)
	}
	e.Kind, e.At = Revoked, p.Installation.SuspendedAt
	return nil
}

func readGranted(p *payload, e *Event) error {
	e.Kind = Granted
	if p.Installation.Account != nil {
		e.Account = p.Installation.Account.Login
	}
	return nil
}

// readRepositories reads which repositories are gone. Their owner is part of a longer name
// here. Which ones were added is not read: the code that needs to know asks.
func readRepositories(p *payload, e *Event) error {
	if e.Action == "added" {
		return readGranted(p, e)
	}
	e.Kind = Revoked
	if len(p.Removed) == 0 {
		return missing("repositories_removed")
	}
	for i, in := range p.Removed {
		field := fmt.Sprintf("repositories_removed[%d]", i)
		owner, name, _ := strings.Cut(in.FullName, "/")
		switch {
		case in.ID <= 0:
			return bad(field+".id", "not a positive number")
		case !plainName(owner) || !plainName(name):
			return bad(field+".full_name", "missing, or not a name of a repository")
		}
		e.Gone = append(e.Gone, Repo{ID: in.ID, Owner: owner, Name: name, Private: in.Private})
	}
	return nil
}

func readWorkflowRun(p *payload, e *Event) error {
	e.Kind = Finished
	in := p.WorkflowRun
	switch {
	case in == nil:
		return missing("workflow_run")
	case in.ID <= 0:
		return bad("workflow_run.id", "not a positive number")
	case !oid(in.HeadSHA):
		return bad("workflow_run.head_sha", "not an object id")
	}
	out := &WorkflowRun{ID: in.ID, Event: in.Event, Conclusion: in.Conclusion, HeadSHA: in.HeadSHA, HeadBranch: in.HeadBranch}
	var err error
	if in.HeadRepository != nil {
		if out.HeadRepo, err = in.HeadRepository.repo("workflow_run.head_repository"); err != nil {
			return err
		}
	}
	if out.Pulls, err = pulls("workflow_run.pull_requests", in.PullRequests, e.Repo.ID); err != nil {
		return err
	}
	e.WorkflowRun, e.At, e.Number = out, in.UpdatedAt, only(out.Pulls)
	return nil
}
