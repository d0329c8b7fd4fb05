package provider_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/provider"
)

// turns of a conversation that only grows.
const turns = 40

// TestPrefix holds what makes a provider's cache hit: over forty turns each
// request is the one before and more behind it. What follows the conversation in
// the body, and for Anthropic the marks that say what to cache, are no part of
// what is cached; with them taken off the share is the whole, byte for byte.
func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, a := range modeltest.APIs() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			bodies := grow(t, a)
			tail, marked := "]}", a.Name == string(provider.Messages)
			if marked {
				tail = `],"max_tokens":8192}`
			}
			raw, shared, whole := 0, 0, 0
			for i := 1; i < len(bodies); i++ {
				before, after := bare(bodies[i-1]), bare(bodies[i])
				head, ok := strings.CutSuffix(before, tail)
				if !ok {
					t.Fatalf("request %d does not end with %q: %s", i, tail, before[max(len(before)-200, 0):])
				}
				n := common(head, after)
				if n != len(head) {
					t.Fatalf("request %d goes another way than the one before at byte %d of %d:\n%s\n%s", i+1, n, len(head), head[n:], after[n:])
				}
				shared, whole = shared+n, whole+len(head)
				raw += common(bodies[i-1], bodies[i])
			}
			if shared != whole {
				t.Errorf("shared %d of %d bytes", shared, whole)
			}
			sum := 0
			for _, b := range bodies[:len(bodies)-1] {
				sum += len(b)
			}
			ratio := float64(raw) / float64(sum)
			t.Logf("%d turns: %.4f of each request is the one before; %.4f of the raw bytes", turns, float64(shared)/float64(whole), ratio)
			if says := fmt.Sprintf("with them %.0f %% of the raw bytes are shared", 100*ratio); marked && !strings.Contains(page(t), says) {
				t.Errorf("docs/models.md does not say %q", says)
			}
			// The marks move with the end, two turns of the user behind it.
			if floor := map[bool]float64{true: 0.9, false: 0.999}[marked]; ratio < floor {
				t.Errorf("of the raw bytes %.4f are shared, want %.3f", ratio, floor)
			}
		})
	}
}

// grow asks turns times and returns the requests.
func grow(t *testing.T, a modeltest.API) []string {
	t.Helper()
	var answers []http.HandlerFunc
	for i := range turns {
		answers = append(answers, modeltest.Stream(a.Render(modeltest.Answer{
			Thought: fmt.Sprintf("Thought %d.", i), Text: []string{"Next, "}, Usage: usage,
			Calls: []model.Call{
				{ID: fmt.Sprintf("call_%d_1", i), Name: "read_file", Args: fmt.Sprintf(`{"path":"dir/file_%d.go","limit":%d}`, i, 100+i)},
				{ID: fmt.Sprintf("call_%d_2", i), Name: "grep", Args: `{"pattern":"<a> & \"b\""}`},
			},
		})...))
	}
	d := modeltest.Serve(t, a, answers...)
	m, err := target(a, d.URL).Open(options())
	if err != nil {
		t.Fatal(err)
	}
	specs := []model.ToolSpec{
		{Name: "read_file", Description: "Reads.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","maximum":600},"from":{"type":"integer"}},"required":["path"]}`)},
		{Name: "grep", Description: "Finds.", Schema: []byte(`{"type":"object","properties":{"pattern":{"type":"string"}}}`)},
		{Name: "glob", Description: "Lists.", Schema: []byte(`{"type":"object","properties":{}}`)},
	}
	history := []model.Message{user("Verify this.\n" + strings.Repeat("diff ", 200))}
	for i := range turns {
		tools := slices.Clone(specs) // in another order each time
		tools = append(tools[i%3:], tools[:i%3]...)
		resp, err := m.Generate(t.Context(), &model.Request{System: "You verify.", Messages: history, Tools: tools}, nil)
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, resp.Message)
		for _, c := range resp.Message.Calls {
			history = append(history, model.Message{Role: model.Tool, CallID: c.ID, Text: strings.Repeat(c.ID+" <line> é\n", 40)})
		}
		if i%10 == 9 {
			history = append(history, user("Go on.")) // as after an answer that was cut
		}
	}
	return d.Bodies()
}

func options() provider.Options {
	return provider.Options{Model: "test-model", CacheKey: "o/r@abc", Now: clock, Retry: model.Retry{Tries: 1}}
}

// bare takes the marks of a cache off, which there are for Anthropic.
func bare(body string) string {
	for _, mark := range []string{`,"cache_control":{"type":"ephemeral"}`, `"cache_control":{"type":"ephemeral"},`} {
		body = strings.ReplaceAll(body, mark, "")
	}
	return body
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// The earlier of the two marks in a conversation stands where the request before
// had its last, so that what was written is found; tools and system have theirs.
func TestMarks(t *testing.T) {
	t.Parallel()
	a := modeltest.APIs()[2]
	bodies := grow(t, a)
	const mark = `"cache_control":{"type":"ephemeral"}`
	marks := func(body string) (at []int) {
		for rest, gone := body, 0; ; {
			i := strings.Index(rest, mark)
			if i < 0 {
				return at
			}
			at = append(at, len(bare(body[:gone+i]+mark+`,`)))
			gone += i + len(mark)
			rest = body[gone:]
		}
	}
	for i := 1; i < len(bodies); i++ {
		before, now := marks(bodies[i-1]), marks(bodies[i])
		if len(now) != 4 || before[0] != now[0] || before[1] != now[1] || before[len(before)-1] != now[2] {
			t.Fatalf("request %d: marks at %v, before at %v", i+1, now, before)
		}
	}
}

// page is docs/models.md with its words apart by one blank.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}
