package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestExchange(t *testing.T) {
	const section = heading + "\nnew\n"
	for _, tt := range []struct{ name, document, want string }{
		{"none", "", section},
		{"at the end", "# Title\n\ntext\n", "# Title\n\ntext\n\n" + section},
		{"instead of the last", "# Title\n\n" + heading + "\nold\n", "# Title\n\n" + section},
		{"between others", "## A\n\na\n\n" + heading + "\nold\n\n### Part\n\n## B\n\nb\n", "## A\n\na\n\n" + section + "\n## B\n\nb\n"},
		{"named in the text", "see " + heading + "\n", "see " + heading + "\n" + section},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := exchange(tt.document, section)
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if again := exchange(got, section); again != got {
				t.Errorf("a second time it changes:\n%s", again)
			}
			if k := kept(got); k != section {
				t.Errorf("kept %q", k)
			}
		})
	}
	if k := kept("# Title\n"); !strings.Contains(k, "make peers") {
		t.Errorf("without a section it does not say how to get one: %q", k)
	}
}

// spoken is a conversation whose questions come so many milliseconds after the
// answer before.
func spoken(gaps ...int) []turn {
	at := time.Unix(0, 0)
	list := []turn{{body: []byte("first"), came: at, answered: at}}
	for _, g := range gaps {
		came := at.Add(time.Duration(g) * time.Millisecond)
		at = came.Add(time.Second)
		list = append(list, turn{came: came, answered: at})
	}
	return list
}

func TestEntry(t *testing.T) {
	var c contestant
	e := c.entry(map[string][]bout{
		kindRead: {
			{turns: spoken(1, 2, 3), start: 30, cpu: 7, peak: 200},
			{turns: spoken(9, 9, 9), start: 10, cpu: 9, peak: 100},
			{turns: spoken(4, 5, 6), start: 20, cpu: 8, peak: 300},
		},
		kindShell: {{turns: spoken(7, 8, 9)}},
		kindLong:  {{turns: spoken(1, 1, 1, 1, 1, 1, 50, 60)}},
	})
	want := entry{start: 20, read: 5 * time.Millisecond, shell: 8 * time.Millisecond, long: 60 * time.Millisecond, cpu: 8, peak: 200, prompt: 5}
	if e != want {
		t.Errorf("got %+v, want %+v", e, want)
	}
}

func TestSection(t *testing.T) {
	us := entry{"ycbot", "this one", 100 * time.Millisecond, time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond, time.Second, 50e6, 20e3}
	they := entry{"other", "1.2.3", 50 * time.Millisecond, 15 * time.Millisecond, 3 * time.Millisecond, 4 * time.Millisecond, 2 * time.Second, 500e6, 5e3}
	text := section([]entry{us, they}, []string{"third: npm ci: exit status 1"}, 3)
	for _, want := range []string{
		"| ycbot | this one | 100 ms | 1.00 ms | 2.00 ms | 4.00 ms | 1.00 s | 50 MB | 20.0 KB |",
		"| other | 1.2.3 | 50 ms (0.50) | 15.00 ms (15) | 3.00 ms (1.5) | 4.00 ms (1.0) | 2.00 s (2.0) | 500 MB (10) | 5.0 KB (0.25) |",
		"Left out: third: npm ci: exit status 1.",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}
	if kept(text) != text {
		t.Error("a part of the section would get lost in the next document")
	}
}

func TestListener(t *testing.T) {
	for _, tt := range []struct{ path, call, said string }{
		{"/v1/chat/completions", `"function":{"arguments":"{\"path\":\"f1\"}","name":"look"}`, `"content":"done"`},
		{"/v1/responses", `"arguments":"{\"path\":\"f1\"}","call_id":"call_1_0"`, `"text":"done"`},
		{"/v1/messages?beta=true", `"partial_json":"{\"path\":\"f1\"}"`, `"text":"done"`},
	} {
		t.Run(tt.path, func(t *testing.T) {
			seen := 0
			l := newListener("look", func(n int) (string, []call) {
				if n == 2 {
					return "done", nil
				}
				return "", []call{{"look", fmt.Sprintf(`{"path":"f%d"}`, n)}}
			}, func() { seen++ })
			defer l.Close()
			title := ask(t, l.URL+tt.path, `{"messages":[{"content":"\"name\":\"look\""}],"tools":[{"name":"probe"}]}`)
			if !strings.Contains(title, "ok") {
				t.Errorf("a question without the tool got %s", title)
			}
			var got [3]string
			for i := range got {
				got[i] = ask(t, l.URL+tt.path, `{"tools":[{"name":"look"}]}`)
			}
			if !strings.Contains(got[1], tt.call) || !strings.Contains(got[2], tt.said) {
				t.Errorf("no %s, then %s, in\n%s\n%s", tt.call, tt.said, got[1], got[2])
			}
			if seen != 3 || len(l.turns) != 3 || len(gaps(l.turns)) != 2 {
				t.Errorf("%d seen, %d turns", seen, len(l.turns))
			}
		})
	}
}

func ask(t *testing.T, url, body string) string {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return string(text)
}

// A peer is of one version everywhere, and no lockfile names where it comes from.
func TestLocked(t *testing.T) {
	for _, p := range peers() {
		manifest, err := locked.ReadFile("peers/" + p.name + "/package.json")
		if err != nil {
			t.Fatal(err)
		}
		lock, err := locked.ReadFile("peers/" + p.name + "/package-lock.json")
		if err != nil {
			t.Fatal(err)
		}
		version, err := pinned(manifest)
		if err != nil || strings.Trim(version, "0123456789.") != "" {
			t.Errorf("%s: version %q, %v", p.name, version, err)
		}
		if !strings.Contains(string(lock), `"version": "`+version+`"`) {
			t.Errorf("%s: the lockfile has no version %s", p.name, version)
		}
		if strings.Contains(string(lock), `"resolved"`) {
			t.Errorf("%s: the lockfile names addresses", p.name)
		}
	}
}

func TestAnswered(t *testing.T) {
	c := contestant{
		name: "c", read: func(file string) call { return call{"look", file} },
		shell: func(command string) call { return call{"sh", command} },
	}
	for _, tt := range []struct{ kind, asks, said string }{
		{kindRead, "src/f37.txt", "line of file 37 that"}, {kindShell, "true 37", "sum-42"}, {kindLong, "src/f113.txt", "line of file 113 that"},
	} {
		script := c.script(tt.kind)
		if _, calls := script(turns - 1); !strings.Contains(fmt.Sprint(calls), tt.asks) {
			t.Errorf("%s: its last call is not %s", tt.kind, tt.asks)
		}
		for n := range turns {
			if _, calls := script(n); len(calls) == 0 {
				t.Fatalf("%s ends after %d turns", tt.kind, n)
			} else if strings.Contains(fmt.Sprint(calls), tt.said) {
				t.Errorf("%s: the call itself has %q, which only its result should", tt.kind, tt.said)
			}
		}
		if _, calls := script(turns); len(calls) > 0 {
			t.Errorf("%s does not end", tt.kind)
		}
		if c.answered([]turn{{body: []byte("\"" + tt.said + " is read\"")}}, tt.kind) != nil {
			t.Errorf("%s: what the tool returned is not seen", tt.kind)
		}
		if c.answered([]turn{{body: []byte(tt.said)}, {body: []byte("no such file")}}, tt.kind) == nil {
			t.Errorf("%s: a tool that failed is not seen", tt.kind)
		}
	}
}
