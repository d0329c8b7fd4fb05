package orchestrator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/script"
)

// secret is what the redaction of these tests knows.
const secret = "s3cr3t-ünd"

func hide(b []byte) []byte { return bytes.ReplaceAll(b, []byte(secret), []byte("[redacted]")) }

// request is the body of the n-th question of a conversation that only grows.
func request(n int) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("brief <& ü ", 400) + `"}`)
	for i := range n {
		mark := "ü"
		if i == n-1 {
			mark = "ö" // of the last one alone: the next request departs within a letter
		}
		fmt.Fprintf(&b, `,{"role":"tool","content":"%s %s %d %s"}`, mark, strings.Repeat("output ü ", 60), i, secret)
	}
	b.WriteString(`],"stream":true}`)
	return json.RawMessage(b.String())
}

// model.jsonl grows with what is said and not with its square; its reader
// has each request as it was sent but for its secrets, also behind a crash, and
// what a version before wrote, which has every request whole.
func TestModelLogHoldsEachMessageOnce(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "model.jsonl")
	old, err := json.Marshal(model.Exchange{ID: "a", N: 1, API: "chat", Request: request(0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(hide(old), "\n{\"torn"...), 0o600); err != nil {
		t.Fatal(err)
	}
	const turns = 40
	whole := 0
	for n := 1; n <= turns; n++ {
		if n%10 == 1 { // a new process each ten turns
			l, err := openModelLog(name, hide)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for k := n; k < n+10; k++ {
				for _, id := range []string{"a", "b"} {
					whole += len(request(k))
					if err := l.record(t.Context(), model.Exchange{ID: id, Agent: id, N: k, API: "chat", Request: request(k), Response: &model.Response{}}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(data)*8 > whole || bytes.Contains(data, []byte(secret)) {
		t.Errorf("%d bytes for requests of %d, secret: %v", len(data), whole, bytes.Contains(data, []byte(secret)))
	}
	seen := 0
	err = model.ReadExchanges(bytes.NewReader(data), func(e model.Exchange) error {
		seen++
		var got, want any
		wanted := request(e.N)
		if seen == 1 {
			wanted = request(0)
		}
		if err := json.Unmarshal(e.Request, &got); err != nil {
			return err
		}
		if err := json.Unmarshal(hide(wanted), &want); err != nil {
			return err
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("question %d of %s is another", e.N, e.ID)
		}
		return nil
	})
	if err != nil || seen != 2*turns+1 {
		t.Errorf("%d exchanges, %v", seen, err)
	}
	r, err := script.NewReplay(bytes.NewReader(data))
	if err != nil || r.Recorded("b", "b") != "b" {
		t.Errorf("replay: %v", err)
	}
}

// answering is a model with one answer.
type answering struct{ resp model.Response }

func (a answering) Name() string { return "m" }

func (a answering) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
	resp := a.resp
	return &resp, nil
}

// What a provider wants back unchanged goes back so, or not at all where a secret
// is in it.
func TestKeptWithASecretIsDropped(t *testing.T) {
	t.Parallel()
	kept := []model.Kept{{API: "messages", Raw: json.RawMessage(`"thought"`)}, {API: "messages", At: 1, Raw: json.RawMessage(`"` + secret + `"`)}}
	d := &redacting{Model: answering{model.Response{Message: model.Message{Text: "say " + secret, Kept: kept}}}, redact: hide}
	resp, err := d.Generate(t.Context(), &model.Request{}, nil)
	if err != nil || resp.Message.Text != "say [redacted]" || len(resp.Message.Kept) != 1 || string(resp.Message.Kept[0].Raw) != `"thought"` {
		t.Errorf("%+v, %v", resp, err)
	}
	if len(kept) != 2 || string(kept[1].Raw) != `"`+secret+`"` {
		t.Errorf("what the provider gave was changed: %v", kept)
	}
}
