// Package script is a [model.Model] that reads its lines from a text, so that a
// demo or a test says exactly what the model does and everything else is real.
//
// A scenario is a txtar archive. Its comment says why it exists, each file is what
// one agent says, named by the agent; the file "model" is for every agent without
// one. A line of "---" ends a turn. Within a turn a line is
//
//	> tool {"arg": 1}   a call; what follows the name is sent as it stands
//	< words             the last message must contain these words
//	<* words            some message, or the system prompt, must contain them
//	! fault             see below
//	\> anything         text that would be read as one of these, or as "---"
//	anything else       text
//
// Faults: "! 401", "! 403" (key refused), "! 400" (request refused), "! 402"
// (nothing left of the quota), "! 404" (no such model), "! 429", "! 500" and other 5xx (down), "! cut" (the turn's text comes, then the stream
// breaks off), "! hang" (the text comes, then nothing until the question is
// cancelled). A number after a fault says how often it happens, in one process,
// before the turn is played; without one it happens each time. "! overflow" is a
// conversation that is too long, with a number one of more characters than that; what
// the turn wants to get it wants of the one that fits.
// "! length" and "! filter" are how the turn ends; "! usage IN OUT CACHED" is what
// it cost.
//
// Text and calls may take up what the conversation contains; see expand.go.
//
// Which turn is next follows from the request alone, so that a run that was killed
// goes on with the right one. A request that a strict provider would refuse, a
// turn too many and words that are missing are errors that say so and where.
package script

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/regular"
)

// Provider is the name by which a scenario file is asked in the place of a provider.
const Provider = "script"

// anyAgent is the section for agents that have none of their own.
const anyAgent = "model"

// A Model plays a scenario. It is safe for concurrent use.
type Model struct {
	name     string
	sections map[string][]turn

	mu     sync.Mutex
	failed map[string]int // how often a counted fault happened, by agent id and turn
}

// A turn is one answer.
type turn struct {
	text   string
	calls  []model.Call // Args as written, before placeholders
	last   []string     // what the last message must contain
	any    []string     // what some message must contain
	fault  string
	times  int // how often the fault happens, characters for overflow; 0: always
	stop   model.Stop
	usage  model.Usage
	source string // section and number, for errors
}

// Load reads the scenario in file.
func Load(file string) (*Model, error) {
	data, err := regular.Read(file)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	m, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", file, err)
	}
	return m, nil
}

// Parse reads a scenario.
func Parse(data []byte) (*Model, error) {
	ar := txtar.Parse(data)
	m := &Model{name: "script", sections: map[string][]turn{}, failed: map[string]int{}}
	for _, f := range ar.Files {
		if _, ok := m.sections[f.Name]; ok {
			return nil, fmt.Errorf("section %s is there twice", f.Name)
		}
		turns, err := parseTurns(f.Name, string(f.Data))
		if err != nil {
			return nil, err
		}
		m.sections[f.Name] = turns
	}
	if len(m.sections) == 0 {
		return nil, errors.New("no section: want at least -- model --")
	}
	return m, nil
}

func parseTurns(section, text string) ([]turn, error) {
	var turns []turn
	for i, part := range splitTurns(text) {
		t, err := parseTurn(part)
		t.source = fmt.Sprintf("%s, turn %d", section, i+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.source, err)
		}
		turns = append(turns, t)
	}
	return turns, nil
}

func splitTurns(text string) [][]string {
	parts := [][]string{nil}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "---" {
			parts = append(parts, nil)
			continue
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], line)
	}
	return parts
}

var callLine = pattern.New(`^> (\S+)(?: (.*))?$`)

func parseTurn(lines []string) (turn, error) {
	t := turn{usage: model.Usage{Input: 100, Output: 10}}
	var text []string
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, `\`):
			text = append(text, line[1:])
		case callLine.MatchString(line):
			m := callLine.FindStringSubmatch(line)
			t.calls = append(t.calls, model.Call{Name: m[1], Args: strings.TrimSpace(m[2])})
		case strings.HasPrefix(line, "<* "):
			t.any = append(t.any, line[3:])
		case strings.HasPrefix(line, "< "):
			t.last = append(t.last, line[2:])
		case strings.HasPrefix(line, "! "):
			if err := t.directive(strings.Fields(line[2:])); err != nil {
				return t, err
			}
		default:
			text = append(text, line)
		}
	}
	t.text = strings.Trim(strings.Join(text, "\n"), "\n")
	return t, nil
}

func (t *turn) directive(words []string) error {
	bad := fmt.Errorf("directive %q: want a fault with an optional count, length, filter, or usage IN OUT CACHED", strings.Join(words, " "))
	if len(words) == 0 {
		return bad
	}
	var nums []int
	for _, w := range words[1:] {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 {
			return bad
		}
		nums = append(nums, n)
	}
	switch words[0] {
	case "length", "filter":
		t.stop = model.Stop(words[0])
		return nil
	case "usage":
		if len(nums) != 3 {
			return bad
		}
		t.usage = model.Usage{Input: nums[0], Output: nums[1], Cached: nums[2]}
		return nil
	}
	if faultOf(words[0]) == nil || len(nums) > 1 {
		return bad
	}
	t.fault = words[0]
	if len(nums) == 1 {
		t.times = nums[0]
	}
	return nil
}

var serverError = pattern.New(`^5\d\d$`)

// faultOf is the error that a fault stands for, nil for an unknown one.
func faultOf(name string) error {
	switch {
	case name == "401", name == "403":
		return model.ErrAuth
	case name == "402":
		return model.ErrQuota
	case name == "404":
		return model.ErrModel
	case name == "400", name == "422":
		return model.ErrRequest
	case name == "overflow":
		return model.ErrOverflow
	case name == "429", name == "408", name == "409", name == "cut", serverError.MatchString(name):
		return model.ErrDown
	case name == "hang":
		return context.Canceled
	}
	return nil
}

// Name is what reports call the model.
func (m *Model) Name() string { return m.name }

// Generate plays the turn that comes after those that req holds.
func (m *Model) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("script: %w", context.Cause(ctx))
	}
	t, err := m.next(req)
	if err != nil {
		return nil, fmt.Errorf("script: agent %s: %w: %w", req.Agent, model.ErrRequest, err)
	}
	failing := m.failing(req, t)
	if failing && t.fault == "overflow" { // what is shortened after that has the words
		return nil, fmt.Errorf("script: %s: %w: %s", t.source, faultOf(t.fault), t.fault)
	}
	if err := t.missing(req); err != nil {
		return nil, fmt.Errorf("script: agent %s: %w: %w", req.Agent, model.ErrRequest, err)
	}
	resp, err := t.response(req)
	if err != nil {
		return nil, fmt.Errorf("script: %s: %w: %w", t.source, model.ErrRequest, err)
	}
	if on != nil && resp.Message.Text != "" && (!failing || t.fault == "cut" || t.fault == "hang") {
		on(model.Delta{Text: resp.Message.Text})
	}
	if !failing {
		return resp, nil
	}
	said := &model.Response{Message: model.Message{Role: model.Assistant, Text: resp.Message.Text}}
	switch t.fault {
	case "hang":
		<-ctx.Done()
		return said, fmt.Errorf("script: %s: %w", t.source, context.Cause(ctx))
	case "cut":
		return said, fmt.Errorf("script: %s: %w: the stream broke off", t.source, model.ErrDown)
	}
	return nil, fmt.Errorf("script: %s: %w: %s", t.source, faultOf(t.fault), t.fault)
}

// next finds the turn and checks that the request is the one that it answers.
func (m *Model) next(req *model.Request) (*turn, error) {
	if err := model.Validate(req.Messages); err != nil {
		return nil, err
	}
	if last := req.Messages[len(req.Messages)-1]; last.Role == model.Assistant {
		return nil, errors.New("history: the last message is the assistant's own")
	}
	name := req.Agent
	turns, ok := m.sections[name]
	if !ok {
		name = anyAgent
		if turns, ok = m.sections[name]; !ok {
			return nil, fmt.Errorf("there is no section for it, and none named %s", anyAgent)
		}
	}
	n := model.Answers(req.Messages)
	if n >= len(turns) {
		return nil, fmt.Errorf("it asks for turn %d, but section %s has %d", n+1, name, len(turns))
	}
	return &turns[n], nil
}

// missing is the first of the turn's words that req does not have.
func (t *turn) missing(req *model.Request) error {
	for _, want := range t.last {
		if last := req.Messages[len(req.Messages)-1].Text; !strings.Contains(last, want) {
			return fmt.Errorf("%s: the last message does not contain %q; it is:\n%s", t.source, want, last)
		}
	}
	for _, want := range t.any {
		if !contains(req, want) {
			return fmt.Errorf("%s: no message contains %q", t.source, want)
		}
	}
	return nil
}

func contains(req *model.Request, want string) bool {
	if strings.Contains(req.System, want) {
		return true
	}
	for _, msg := range req.Messages {
		if strings.Contains(msg.Text, want) {
			return true
		}
	}
	return false
}

// failing reports whether the turn's fault happens this time.
func (m *Model) failing(req *model.Request, t *turn) bool {
	if t.fault == "" || t.times == 0 {
		return t.fault != ""
	}
	if t.fault == "overflow" {
		size := len(req.System)
		for _, msg := range req.Messages {
			size += len(msg.Text)
		}
		return size > t.times
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := req.Agent + "/" + req.ID + "/" + t.source
	m.failed[key]++
	return m.failed[key] <= t.times
}

// response is the answer with its placeholders filled in.
func (t *turn) response(req *model.Request) (*model.Response, error) {
	text, err := expand(t.text, req.Messages, false)
	if err != nil {
		return nil, err
	}
	resp := &model.Response{Message: model.Message{Role: model.Assistant, Text: text}, Stop: t.stop, Usage: t.usage}
	n := model.Answers(req.Messages) + 1
	for i, c := range t.calls {
		if c.Args, err = expand(c.Args, req.Messages, true); err != nil {
			return nil, err
		}
		c.ID = fmt.Sprintf("call_%d_%d", n, i+1)
		resp.Message.Calls = append(resp.Message.Calls, c)
	}
	switch {
	case resp.Stop != "":
	case len(resp.Message.Calls) > 0:
		resp.Stop = model.StopCalls
	default:
		resp.Stop = model.StopEnd
	}
	return resp, nil
}
