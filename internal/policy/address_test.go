package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

// A rule about addresses holds for every spelling of one; an Allow does not reach further than
// what a server may make of it.
func TestAddressRules(t *testing.T) {
	t.Parallel()
	const denied, host = CodePolicyDeny, "host a.example"
	for _, tt := range []struct{ url, rule, want string }{
		{"https://a.example/private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://A.example/private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"HTTPS://a.example./private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example:443/private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example:/private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example.:443/private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example/x/../private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example/x/%2e%2E/private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example/%70rivate/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example/private%2fy", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example//private/y", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example/./private/", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example/private/x/..", "deny Fetch(https://a.example/private/*)", denied},
		{"https://a.example/private#x", "deny Fetch(https://a.example/private)", denied},
		{"https://a.example/private/y", "deny Fetch(https://a.example./private/*)", denied},
		{"https://a.example/private/y", "deny Fetch(HTTPS://A.Example:443/private/*)", denied},
		{"https://a.example/private/y", "deny Fetch(*A.Example/private/*)", denied},
		{"https://a.example/private/y", "deny Fetch(*Example*)", denied},
		{"https://a.example/%70rivate/y", "deny Fetch(*/{private,secret}*)", denied},
		{"https://a.example/private/y", "deny Fetch(https://a.example/%70rivate/*)", denied},
		{"https://a.example/\u00fc/y", "deny Fetch(https://a.example/%c3%bc/*)", denied},
		{"https://a.example/%c3%bc/y", "deny Fetch(https://a.example/\u00fc/*)", denied},
		{"https://a.example/f?q=%73ecret", "deny Fetch(*q=secret*)", denied},
		{"https://a.example", "deny Fetch(https://a.example/*)", denied},
		{"https://a.example/", "deny Fetch(https://a.example)", denied},
		{"https://[0:0::1]/x", "deny Fetch(https://[::1]/*)", denied},

		{"https://a.example/Private/y", "deny Fetch(https://a.example/private/*)", host},
		{"https://a.example/private/../x", "deny Fetch(https://a.example/public/*)", host},
		{"http://a.example:80/y", "deny Fetch(https://a.example/*)", host},
		{"https://a.example/100%25/y", "deny Fetch(https://a.example/private/*)", host},
		{"https://a.example/%zz", "deny Fetch(https://a.example/private/*)", CodeBackground},

		{"https://docs.example/pub/x", "allow Fetch(https://docs.example/pub/*)", ""},
		{"https://DOCS.example:443/pub/x?q=1#y", "allow Fetch(https://docs.example/pub/*)", ""},
		{"https://docs.example/pub/", "allow Fetch(https://docs.example/pub/*)", ""},
		{"https://docs.example./pub/x", "allow Fetch(https://docs.example/pub/*)", CodeBackground},
		{"https://docs.example/pub/../private", "allow Fetch(https://docs.example/pub/*)", CodeBackground},
		{"https://docs.example/pub/%2e%2e/private", "allow Fetch(https://docs.example/pub/*)", CodeBackground},
		{"https://docs.example/pub/..%2fprivate", "allow Fetch(https://docs.example/pub/*)", CodeBackground},
		{"https://docs.example/pub/..", "allow Fetch(https://docs.example/pub/*)", CodeBackground},
		{"https://docs.example/private%2f..%2fpub/x", "allow Fetch(https://docs.example/pub/*)", CodeBackground},
		{"https://docs.example/pub%2a", "allow Fetch(https://docs.example/pub%2a)", ""},
		{"https://docs.example/public", "allow Fetch(https://docs.example/pub%2a)", CodeBackground},
		{"https://docs.example/a%20b/c", "allow Fetch(https://docs.example/a%20b/*)", ""},
		{"https://docs.example/%7Ejo/c", "allow Fetch(https://docs.example/~jo/*)", ""},
		{"https://docs.example/\u00fc/c", "allow Fetch(https://docs.example/\u00fc/*)", ""},
		{"https://docs.example", "allow Fetch(https://docs.example)", ""},
		{"https://docs.example/x", "allow Fetch(https://docs.example*)", ""},
		{"https://docs.example/web/2020/https://b.example/c", "allow Fetch(https://docs.example/web/2020/https://b.example/*)", ""},
		{"https://docs.example/go?to=https://b.example/c", "allow Fetch(https://docs.example/go?to=https://b.example/*)", ""},
		{"https://docs.example/f?q=a+b%26c", "allow Fetch(https://docs.example/f?q=*)", ""},
	} {
		args, err := json.Marshal(map[string]string{"url": tt.url})
		if err != nil {
			t.Fatal(err)
		}
		c := toolCall("fetch_url", "net", string(args), rules(t, true, tt.rule)...)
		c.Hosts = []string{"a.example"}
		v := Explain(c, Grant(ModeVerify, Trusted, true).WithNet())
		got, want := v.By, tt.want
		if v.Denial != nil {
			got = v.Denial.Code
		}
		if want == "" {
			want = strings.TrimPrefix(tt.rule, "allow ")
		}
		if got != want {
			t.Errorf("%s under %s: %q, want %q", tt.url, tt.rule, got, want)
		}
	}
}

// The map of an agent's definition sees what a server may make of an address, too.
func TestAddressOwnWord(t *testing.T) {
	t.Parallel()
	own := Agent{Permission: func(_, target string) (Action, string) {
		if strings.HasPrefix(target, "https://a.example/private/") {
			return Deny, "fetch_url: private"
		}
		return Allow, "fetch_url: *"
	}}
	for url, want := range map[string]bool{"https://A.example/private/y": true, "https://a.example/x/../private/y": true, "https://a.example/%70rivate%2fy": true, "https://a.example/y": false} {
		c := toolCall("fetch_url", "net", `{"url":"`+url+`"}`)
		c.Hosts, c.Agent = []string{"a.example"}, own
		if d := Decide(c, Grant(ModeVerify, Trusted, true).WithNet()); (d != nil) != want {
			t.Errorf("%s: %+v", url, d)
		}
	}
}

// What a form of an address is made of is made again of that form.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"https://A.example:443//x/../%70?q=%2e#f", "http://[::1%25x]:80", "https://a/%zz", "https://\u00fc.example/\u00fc"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		once := Address(address)
		if again := Address(once.Text); once.plain != "" && again.plain != "" && again.Text != once.Text {
			t.Errorf("%q becomes %q, and that %q", address, once.Text, again.Text)
		}
	})
}
