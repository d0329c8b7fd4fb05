package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/transcript"
)

// ask gets the next answer, from the journal where it has it. On an error the
// response is what came of the answer, if anything.
func (t *turn) ask(ctx context.Context) (*model.Response, error) {
	n := t.end.Iterations + 1
	if err := t.send(Event{Type: transcript.IterationStart, N: n, Max: t.cap}); err != nil {
		return nil, err
	}
	pruned, err := t.shortened(n)
	if err != nil {
		return nil, err
	}
	resp := new(model.Response)
	if ok, err := t.recall(kindModel, t.key(n), resp); ok || err != nil {
		return resp, err
	}
	if pruned == 0 {
		if pruned, err = t.makeRoom(n); err != nil {
			return nil, err
		}
	}
	resp, err = t.generate(ctx)
	for ; errors.Is(err, model.ErrOverflow) && resp == nil; pruned++ {
		p := pruning{}
		shorter := prune(*t.history)
		if size(shorter) == size(*t.history) {
			shorter, p.Small = squeeze(*t.history), true
		}
		if size(shorter) == size(*t.history) {
			return nil, err
		}
		if err := t.record(kindPrune, t.pruneKey(n, pruned), p); err != nil {
			return nil, err
		}
		if err := t.shorten(shorter, n); err != nil {
			return nil, err
		}
		resp, err = t.generate(ctx)
	}
	if err != nil {
		return resp, fmt.Errorf("agent %s: %w", t.cfg.Name, err)
	}
	resp.Message = normalise(resp.Message, n)
	return resp, t.record(kindModel, t.key(n), resp)
}

// A pruning is how the history was shortened, as the journal keeps it.
type pruning struct {
	Small bool `json:"small,omitempty"` // also answers that are short
}

// shortened shortens the history as the journal says that it was before the n-th question,
// and returns how often.
func (t *turn) shortened(n int) (times int, err error) {
	for ; ; times++ {
		var p pruning
		if was, err := t.recall(kindPrune, t.pruneKey(n, times), &p); err != nil || !was {
			return times, err
		}
		shorter := prune(*t.history)
		if p.Small {
			shorter = squeeze(*t.history)
		}
		if err := t.shorten(shorter, n); err != nil {
			return times, err
		}
	}
}

// shorten goes on with a shorter history, and says so.
func (t *turn) shorten(shorter []model.Message, n int) error {
	dropped := size(*t.history) - size(shorter)
	*t.history = shorter
	return t.send(Event{Type: transcript.ContextCompacted, N: n, Count: dropped})
}

// progressEvery is how many characters of an answer lie between two events that
// report how much came.
const progressEvery = 2048

// request is the next question.
func (t *turn) request() *model.Request {
	return &model.Request{
		System: t.system, Messages: *t.history, Tools: t.specs, MaxOut: t.cfg.MaxOut, NoCalls: t.noCalls,
		Effort: t.cfg.Effort, Agent: t.cfg.Name, ID: t.cfg.ID,
	}
}

// generate asks the model once and passes on what it streams.
func (t *turn) generate(ctx context.Context) (*model.Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req := t.request()
	came, reported := 0, 0
	resp, err := t.cfg.Model.Generate(ctx, req, func(d model.Delta) {
		came += len(d.Text) + len(d.Reasoning)
		if came-reported >= progressEvery {
			reported = came
			if t.send(Event{Type: transcript.StreamProgress, N: t.end.Iterations + 1, Count: came}) != nil {
				cancel()
			}
		}
		e := Event{Type: transcript.ContentToken, N: t.end.Iterations + 1, Text: d.Text}
		switch {
		case d.Reset:
			e.Type = transcript.ContentReset
		case d.Reasoning != "":
			e.Type, e.Text = transcript.ReasoningToken, d.Reasoning
		}
		if t.send(e) != nil {
			cancel()
		}
	})
	if t.fault != nil {
		return resp, t.fault
	}
	return resp, err
}

// normalise makes an answer one that can be sent back: every call has an id of
// its own and a name that a provider takes. Arguments are left as they are; what
// is wrong with them the model learns when the call is dispatched.
func normalise(m model.Message, n int) model.Message {
	calls := make([]model.Call, 0, len(m.Calls))
	seen := map[string]bool{}
	for i, c := range m.Calls {
		if c.ID == "" || seen[c.ID] {
			c.ID = fmt.Sprintf("call_%d_%d", n, i+1)
		}
		for seen[c.ID] {
			c.ID += "_"
		}
		seen[c.ID] = true
		c.Name = safeName(c.Name)
		calls = append(calls, c)
	}
	if len(calls) == 0 {
		calls = nil
	}
	return model.Message{Role: model.Assistant, Text: m.Text, Calls: calls, Kept: m.Kept}
}

// safeName makes name one that OpenAI takes, such as subagents_run of subagents.run.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

// object returns args as the JSON object that they must be; none at all is {}.
func object(args string) (json.RawMessage, error) {
	if strings.TrimSpace(args) == "" {
		return json.RawMessage("{}"), nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &m); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object: %w", err)
	}
	if m == nil {
		return nil, errors.New("the arguments are not a JSON object: null")
	}
	return json.RawMessage(args), nil
}

// Bounds of what prune leaves of a tool's old answer.
const (
	pruneOver = 4000 // runes; shorter answers stay
	pruneKeep = 1500 // runes at either end
	pruneLast = 3    // assistants whose tools' answers stay whole if that is enough
)

// The same of squeeze.
const (
	squeezeOver = 600
	squeezeKeep = 200
)

// prune shortens old answers of tools. Where there is none to shorten but in the
// last messages, it shortens those.
func prune(messages []model.Message) []model.Message {
	border := recent(messages)
	out := pruneBefore(messages, border, pruneOver, pruneKeep)
	if size(out) == size(messages) {
		out = pruneBefore(messages, len(messages), pruneOver, pruneKeep)
	}
	return out
}

// squeeze shortens answers of tools, however short they are, where many of them fill the
// window: the oldest first, and only where that is not enough, as at the next call, more.
func squeeze(messages []model.Message) []model.Message {
	border := recent(messages)
	out := pruneBefore(messages, border, squeezeOver, squeezeKeep)
	for _, more := range []func() []model.Message{
		func() []model.Message { return pruneBefore(messages, border, 0, 0) },
		func() []model.Message { return pruneBefore(messages, len(messages), squeezeOver, squeezeKeep) },
		func() []model.Message { return pruneBefore(messages, len(messages), 0, 0) },
	} {
		if size(out) < size(messages) {
			break
		}
		out = more()
	}
	return out
}

// recent is where the last messages begin.
func recent(messages []model.Message) int {
	border, left := len(messages), pruneLast
	for border > 0 && left > 0 {
		border--
		if messages[border].Role == model.Assistant {
			left--
		}
	}
	return border
}

// pruneBefore leaves keep runes at either end of answers longer than over.
func pruneBefore(messages []model.Message, border, over, keep int) []model.Message {
	out := make([]model.Message, len(messages))
	copy(out, messages)
	for i := range out[:border] {
		r := []rune(out[i].Text)
		if out[i].Role != model.Tool {
			continue
		}
		out[i].Images = nil // Text says where they are kept
		if len(r) <= over {
			continue
		}
		text := fmt.Sprintf("[… %d characters of this answer were dropped to make room; %s …]", len(r)-2*keep+droppedBefore(out[i].Text), whole(out[i].Text))
		if keep > 0 {
			text = string(r[:keep]) + "\n" + text + "\n" + string(r[len(r)-keep:])
		}
		if len(text) < len(out[i].Text) {
			out[i].Text = text
		}
	}
	return out
}

// dropMark is what pruneBefore leaves in an answer.
var dropMark = pattern.New(`\n?\[… (\d+) characters of this answer were dropped to make room; [^\n]* …\]\n?`)

// droppedBefore is how much longer than its text an answer was that is shortened again.
func droppedBefore(text string) int {
	m := dropMark.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n - utf8.RuneCountInString(m[0])
}

// answerID finds the evidence that an answer begins with.
var answerID = pattern.New(`^\[(E[1-9][0-9]*)\] exit=`)

// whole says where a shortened answer can be read in full: of a command in its
// spill file, of anything else where it came from.
func whole(text string) string {
	if m := answerID.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("read_file reads all of it as spill:%[1]s.stdout and spill:%[1]s.stderr", m[1])
	}
	return "the same call brings it again"
}

// imageSize is what a picture takes of a model's window, in characters: providers count
// it by its pixels, some 1600 tokens for the larger of a screenshot's two.
const imageSize = 6400

// size is about how much of a model's window messages take, in characters.
func size(messages []model.Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Text) + imageSize*len(m.Images)
	}
	return n
}
