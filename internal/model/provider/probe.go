package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// A Trouble is what is wrong with a provider.
type Trouble string

// What may be wrong.
const (
	TroubleNone     Trouble = "none"
	TroubleKey      Trouble = "key"      // it refuses the key
	TroubleEndpoint Trouble = "endpoint" // no one answers there, or another server
	TroubleModel    Trouble = "model"    // it has no such model, or one that cannot call tools
	TroubleQuota    Trouble = "quota"    // it wants money
	TroubleBusy     Trouble = "busy"     // it is there, but does not serve now
	TroubleRequest  Trouble = "request"  // it refuses the request for a reason of its own
	TroubleStopped  Trouble = "stopped"  // the probe was cancelled, which says nothing
)

// A Finding is what a probe found.
type Finding struct {
	Trouble Trouble `json:"trouble"`
	Text    string  `json:"text"`           // what happened
	Todo    string  `json:"todo,omitempty"` // what to do about it

	Usage model.Usage `json:"-"` // of the question
}

// probeOut is small, and enough for a model that thinks before it says a word.
const probeOut = 64

// Probe asks m for a word, with a tool beside it, as a run would. It costs a few
// dozen tokens. A model opened with few tries and short pauses makes it quick.
func (t Target) Probe(ctx context.Context, m model.Model) Finding {
	resp, err := m.Generate(ctx, &model.Request{
		System: "You answer with one word.", MaxOut: probeOut, Agent: "preflight",
		Messages: []model.Message{{Role: model.User, Text: "Say: ready"}},
		Tools: []model.ToolSpec{{
			Name: "ready", Description: "Not needed now.", Schema: json.RawMessage(`{"type":"object","properties":{"why":{"type":"string"}}}`),
		}},
	}, nil)
	if err == nil {
		return Finding{Trouble: TroubleNone, Text: fmt.Sprintf("%s answers (%d tokens in, %d out)", m.Name(), resp.Usage.Input, resp.Usage.Output), Usage: resp.Usage}
	}
	if ctx.Err() != nil {
		return Finding{Trouble: TroubleStopped, Text: err.Error(), Todo: "ask again"}
	}
	f := Finding{Trouble: diagnose(err), Text: err.Error()}
	if f.Trouble == TroubleNone {
		f.Text = m.Name() + " answers"
		return f
	}
	f.Todo = t.todo(f.Trouble, m.Name())
	return f
}

// diagnose finds from an error what is wrong.
func diagnose(err error) Trouble {
	var f *wire.Fault
	if !errors.As(err, &f) {
		return TroubleRequest
	}
	text := strings.ToLower(f.Code + " " + f.Text)
	has := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	switch {
	case has("max_tokens or model output limit was reached"):
		return TroubleNone // the whole answer went into thinking: key, address and model are right
	case f.Code == wire.CodeWebPage:
		return TroubleEndpoint
	case errors.Is(err, model.ErrQuota):
		return TroubleQuota
	case has("model_not_found", "unknown_model", "unknown model", "deploymentnotfound", "no_access", "does not support tools") ||
		has("model") && has("does not exist", "not found", "not a valid model", "not supported", "no endpoints found", "not_found_error"):
		return TroubleModel
	case errors.Is(err, model.ErrAuth):
		return TroubleKey
	case f.Status == http.StatusNotFound, f.Status == http.StatusMethodNotAllowed, f.Status >= 300 && f.Status < 400:
		return TroubleEndpoint
	case f.Status == 0 && f.Kind == nil && f.Code == "":
		return TroubleEndpoint // no response at all, or one that is no stream of this API
	case errors.Is(err, model.ErrDown), f.Again:
		return TroubleBusy
	}
	return TroubleRequest
}

// todo is what an operator does about a trouble.
func (t Target) todo(trouble Trouble, name string) string {
	switch trouble {
	case TroubleKey:
		switch {
		case t.Key == "":
			return fmt.Sprintf("it wants a key: set %s; %s", strings.Join(t.Preset.KeyEnv, " or "), t.Preset.Hint)
		case t.KeyFrom == "": // such as YCBOT_API_KEY, which the caller knows
			return fmt.Sprintf("check the key that was given, which takes precedence over %s; %s", strings.Join(t.Preset.KeyEnv, " and "), t.Preset.Hint)
		}
		return fmt.Sprintf("check the key in %s; %s", t.KeyFrom, t.Preset.Hint)
	case TroubleEndpoint:
		return t.reach()
	case TroubleModel:
		return fmt.Sprintf("check the name %q, that the key may use it, and that it can call tools: %s", name, t.Preset.Hint)
	case TroubleQuota:
		return "the account has no credit left: add some, or use another key"
	case TroubleBusy:
		return "try later; if it stays so, see the provider's status page"
	case TroubleRequest:
		return "see what the provider says; another API or model may do"
	case TroubleNone, TroubleStopped:
	}
	return ""
}

// reach says what to do where nothing of the API is at the address. The address itself
// may hold a password, and is not repeated.
func (t Target) reach() string {
	todo := "check the address that was given"
	switch {
	case t.addressFrom != "":
		todo = "check the address in " + t.addressFrom
	case t.BaseURL == t.Preset.BaseURL:
		todo = "check that " + t.BaseURL + " can be reached from here"
	}
	todo += ", and that it speaks " + string(t.API)
	if t.Preset.KeyFree || t.Preset.BaseURL == "" { // what is to be known of it is about the server and not the key
		todo += ": " + t.Preset.Hint
	}
	return todo
}
