package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A payload is the part of GitHub's bodies that ycbot reads. Naming only what is
// used keeps odd values elsewhere, such as the dates of old check runs, from
// making a body unreadable.
type payload struct {
	Action          string                     `json:"action"`
	Number          int                        `json:"number"`
	PullRequest     *pullPayload               `json:"pull_request"`
	Label           *labelPayload              `json:"label"`
	Changes         changesPayload             `json:"changes"`
	Issue           *issuePayload              `json:"issue"`
	Comment         *commentPayload            `json:"comment"`
	CheckRun        *checkPayload              `json:"check_run"`
	CheckSuite      *checkPayload              `json:"check_suite"`
	RequestedAction *actionPayload             `json:"requested_action"`
	MergeGroup      *mergeGroupPayload         `json:"merge_group"`
	Reason          string                     `json:"reason"` // why a merge group is destroyed
	WorkflowRun     *workflowRunPayload        `json:"workflow_run"`
	Ref             string                     `json:"ref"`
	Before          string                     `json:"before"`
	After           string                     `json:"after"`
	Inputs          map[string]json.RawMessage `json:"inputs"`
	Repository      *repoPayload               `json:"repository"`
	Sender          *userPayload               `json:"sender"`
	Installation    *installationPayload       `json:"installation"`
	Removed         []namedPayload             `json:"repositories_removed"`
}

// changesPayload is what an edit changed; only whether the base is among it matters.
type changesPayload struct {
	Base *struct{} `json:"base"`
}

type idPayload struct {
	ID int64 `json:"id"`
}

type installationPayload struct {
	ID      int64 `json:"id"`
	Account *struct {
		Login string `json:"login"`
	} `json:"account"`
	SuspendedAt time.Time `json:"suspended_at"`
}

type userPayload struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

type repoPayload struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Private bool   `json:"private"`
	Default string `json:"default_branch"`
	Owner   *struct {
		Login string `json:"login"`
	} `json:"owner"`
}

// A namedPayload is a repository as events of an installation name it.
type namedPayload struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
	Private  bool   `json:"private"`
}

type labelPayload struct {
	Name string `json:"name"`
}

type actionPayload struct {
	Identifier string `json:"identifier"`
}

type pullPayload struct {
	Number    int            `json:"number"`
	Title     string         `json:"title"`
	Body      string         `json:"body"`
	Draft     bool           `json:"draft"`
	State     string         `json:"state"`
	User      *userPayload   `json:"user"`
	Base      *refPayload    `json:"base"`
	Head      *refPayload    `json:"head"`
	Labels    []labelPayload `json:"labels"`
	UpdatedAt time.Time      `json:"updated_at"`
}

type refPayload struct {
	Ref  string       `json:"ref"`
	SHA  string       `json:"sha"`
	Repo *repoPayload `json:"repo"`
}

type issuePayload struct {
	Number      int          `json:"number"`
	Title       string       `json:"title"`
	Body        string       `json:"body"`
	User        *userPayload `json:"user"`
	PullRequest *struct{}    `json:"pull_request"`
}

type commentPayload struct {
	ID        int64        `json:"id"`
	Body      string       `json:"body"`
	User      *userPayload `json:"user"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
}

// A checkPayload is a check run or a check suite.
type checkPayload struct {
	ID           int64           `json:"id"`
	Name         string          `json:"name"`
	HeadSHA      string          `json:"head_sha"`
	ExternalID   string          `json:"external_id"`
	App          *idPayload      `json:"app"`
	PullRequests []linkedPayload `json:"pull_requests"`
}

type mergeGroupPayload struct {
	BaseSHA string `json:"base_sha"`
	HeadSHA string `json:"head_sha"`
	BaseRef string `json:"base_ref"`
	HeadRef string `json:"head_ref"`
}

type workflowRunPayload struct {
	ID             int64           `json:"id"`
	Event          string          `json:"event"`
	Conclusion     string          `json:"conclusion"`
	HeadSHA        string          `json:"head_sha"`
	HeadBranch     string          `json:"head_branch"`
	HeadRepository *repoPayload    `json:"head_repository"`
	PullRequests   []linkedPayload `json:"pull_requests"`
	UpdatedAt      time.Time       `json:"updated_at"`
}

// A linkedPayload is a pull request with the head of a check or workflow run.
type linkedPayload struct {
	Number int `json:"number"`
	Base   struct {
		Repo *idPayload `json:"repo"`
	} `json:"base"`
}

// user reads an account; that of someone who left GitHub may be null.
func (u *userPayload) user(field string) (User, error) {
	if u == nil {
		return User{}, nil
	}
	if u.ID <= 0 {
		return User{}, bad(field+".id", "not a positive number")
	}
	return User{ID: u.ID, Login: u.Login, Type: u.Type}, nil
}

func (r *repoPayload) repo(field string) (Repo, error) {
	switch {
	case r.ID <= 0:
		return Repo{}, bad(field+".id", "not a positive number")
	case !plainName(r.Name):
		return Repo{}, bad(field+".name", "missing, or not a name of a repository")
	case r.Owner == nil || !plainName(r.Owner.Login):
		return Repo{}, bad(field+".owner.login", "missing, or not a name of an account")
	}
	return Repo{ID: r.ID, Owner: r.Owner.Login, Name: r.Name, Private: r.Private}, nil
}

// pull reads a pull request of repo.
func (p *pullPayload) pull(repo Repo) (*Pull, error) {
	author, err := p.User.user("pull_request.user")
	if err != nil {
		return nil, err
	}
	base, err := p.Base.ref("pull_request.base")
	if err != nil {
		return nil, err
	}
	if base.Repo.ID != repo.ID {
		return nil, bad("pull_request.base.repo.id", "not that of the repository")
	}
	head, err := p.Head.ref("pull_request.head")
	if err != nil {
		return nil, err
	}
	out := &Pull{
		Title: p.Title, Body: p.Body, Draft: p.Draft, Closed: p.State == "closed",
		Author: author, Base: base, Head: head,
	}
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	return out, nil
}

func (r *refPayload) ref(field string) (Ref, error) {
	if r == nil {
		return Ref{}, missing(field)
	}
	if !oid(r.SHA) {
		return Ref{}, bad(field+".sha", "not an object id")
	}
	out := Ref{Name: r.Ref, SHA: r.SHA}
	if r.Repo == nil { // a fork that was deleted
		return out, nil
	}
	var err error
	out.Repo, err = r.Repo.repo(field + ".repo")
	return out, err
}

func (c *checkPayload) read(field string, e *Event) error {
	switch {
	case c.ID <= 0:
		return bad(field+".id", "not a positive number")
	case !oid(c.HeadSHA):
		return bad(field+".head_sha", "not an object id")
	case c.App == nil || c.App.ID <= 0:
		return bad(field+".app.id", "missing, or not a positive number")
	}
	of, err := pulls(field+".pull_requests", c.PullRequests, e.Repo.ID)
	if err != nil {
		return err
	}
	e.CheckRun = &CheckRun{
		ID: c.ID, AppID: c.App.ID, Name: c.Name, HeadSHA: c.HeadSHA, ExternalID: c.ExternalID, Pulls: of,
	}
	e.Number = only(of)
	return nil
}

// pulls reads the numbers of pull requests into the repository. GitHub also
// names those that go from here into another one.
func pulls(field string, linked []linkedPayload, repo int64) ([]int, error) {
	var out []int
	for i, l := range linked {
		if l.Number <= 0 {
			return nil, bad(fmt.Sprintf("%s[%d].number", field, i), "not a positive number")
		}
		elsewhere := l.Base.Repo != nil && l.Base.Repo.ID != repo
		if !elsewhere && !slices.Contains(out, l.Number) {
			out = append(out, l.Number)
		}
	}
	return out, nil
}

// only returns the number where there is just one.
func only(numbers []int) int {
	if len(numbers) == 1 {
		return numbers[0]
	}
	return 0
}

// oid reports whether s is a whole object id as git writes it.
func oid(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// plainName reports whether s can be the name of an account or repository, which
// may stand in a path.
func plainName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return s != "" && len(s) <= 100 && s != "." && s != ".." && strings.Trim(s, letters) == ""
}

func missing(field string) error { return bad(field, "missing") }

func bad(field, why string) error { return fmt.Errorf("%w: %s: %s", ErrMalformed, field, why) }

// malformed says where the decoder stopped.
func malformed(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%w: offset %d: %w", ErrMalformed, syntax.Offset, err)
	}
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return fmt.Errorf("%w: %s: offset %d: a JSON %s does not fit", ErrMalformed, typ.Field, typ.Offset, typ.Value)
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}
