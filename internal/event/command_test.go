package event

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// The grammar, as a table: what a comment says and what it asks for.
func TestParseCommand(t *testing.T) {
	t.Parallel()
	const (
		sha7  = "0123abc"
		sha40 = "0123456789abcdef0123456789abcdef01234567"
	)
	tests := []struct {
		body string
		want Command
	}{
		{"/verify", Command{Verb: VerbVerify}},
		{"/verify full", Command{Verb: VerbVerify, Full: true}},
		{"/verify " + sha7, Command{Verb: VerbVerify, SHA: sha7}},
		{"/verify " + sha40, Command{Verb: VerbVerify, SHA: sha40}},
		{"/verify full " + sha40, Command{Verb: VerbVerify, Full: true, SHA: sha40}},
		{"/verify -- the empty list", Command{Verb: VerbVerify, Words: "the empty list"}},
		{"/verify full " + sha7 + " -- stop", Command{Verb: VerbVerify, Full: true, SHA: sha7, Words: "stop"}},
		{"/verify stop", Command{Verb: VerbStop}},
		{"/verify accept 0123ABCD", Command{Verb: VerbAccept, SHA: "0123abcd"}},
		{"/verify accept 0123abcd  stop -- the limit\r\nwas wrong ", Command{Verb: VerbAccept, SHA: "0123abcd", Words: "stop -- the limit\nwas wrong"}},
		{"/verify status", Command{Verb: VerbStatus}},
		{"/verify help", Command{Verb: VerbHelp}},

		// Space.
		{"/verify ", Command{Verb: VerbVerify}},
		{"   /verify\tfull  ", Command{Verb: VerbVerify, Full: true}},
		{"\r\n \t\r\n/verify\r\n", Command{Verb: VerbVerify}},
		{"/verify full\r\n" + sha7 + "\r\n\r\n-- one\r\ntwo", Command{Verb: VerbVerify, Full: true, SHA: sha7, Words: "one\ntwo"}},
		{"/verify\r-- old\rMac", Command{Verb: VerbVerify, Words: "old\nMac"}},

		// Words are all the rest, whatever stands there.
		{"/verify --", Command{Verb: VerbVerify}},
		{"/verify -- ", Command{Verb: VerbVerify}},
		{"/verify -- a -- b\n\n/verify stop\n> c", Command{Verb: VerbVerify, Words: "a -- b\n\n/verify stop\n> c"}},
		{"/verify -- a\x00b\x1b[31m\tc\xff", Command{Verb: VerbVerify, Words: "ab[31m\tc\uFFFD"}},

		// Letters: only a commit may have capitals.
		{"/verify 0123ABC", Command{Verb: VerbVerify, SHA: sha7}},
		{"/verify FULL", refused("`FULL` is")},
		{"/verify Stop", refused("`Stop` is")},

		// What the grammar does not have is help, and nothing runs.
		{"/verify please", refused("`please` is")},
		{"/verify full full", refused("`full` is")},
		{"/verify " + sha7 + " full", refused("`full` is")},
		{"/verify " + sha7 + " " + sha7, refused("`" + sha7 + "` is")},
		{"/verify 012345", refused("`012345` is")},
		{"/verify " + sha40 + "0", refused("a word that is not known")},
		{"/verify full stop", refused("`stop` is")},
		{"/verify accept", refused("`/verify accept` is followed by the commit that is accepted, such as `/verify accept 0123456789ab the old limit was wrong`")},
		{"/verify accept all", refused("`/verify accept` is followed by the commit that is accepted, such as `/verify accept 0123456789ab the old limit was wrong`")},
		{"/verify stop now", refused("`/verify stop` takes nothing more")},
		{"/verify help -- me", refused("`/verify help` takes nothing more")},
		{"/verify\n\nThank you!", refused("`Thank` is")},
		{"/verify --full", refused("`--full` is")},
		{"/verify — the list", refused("two hyphens")},
		{"/verify /verify", refused("a word that is not known")},
		{"/verify @everyone", refused("a word that is not known")},
		{"/verify `x`<img>", refused("a word that is not known")},
		{"/verify full\u00a0", refused("a word that is not known")},
		{"/verify f\u200bull", refused("a word that is not known")},
		{"/verify \x00", refused("a word that is not known")},

		// Looks like the command and is not: people wait for an answer.
		{"/verify\u00a0full", refused("unusual space")},
		{"/verify\u200b", refused("unusual space")},
		{"/verify\u202e stop", refused("unusual space")},
	}
	for _, tt := range tests {
		got, ok := ParseCommand(tt.body)
		if tt.want.Reason != "" && strings.Contains(got.Reason, tt.want.Reason) {
			tt.want.Reason = got.Reason
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || !ok {
			t.Errorf("%q: ok %v\n%s", tt.body, ok, diff)
		}
	}
}

func refused(reason string) Command { return Command{Verb: VerbHelp, Reason: reason} }

// Comments that are no command at all get no answer.
func TestNoCommand(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", " \n\t\r\n", "Looks good.", "Please /verify", "Please\n/verify",
		"/Verify", "/VERIFY", "verify", "//verify", "\\/verify", "/ verify",
		"/verify-all", "/verify.", "/verify/stop", "/verifyfull", "/verify\x00", "/verify\xff",
		"> /verify", ">/verify", "`/verify`", "**/verify**", "```\n/verify\n```", "~~~\n/verify\n~~~",
		"    /verify", "\t/verify", "\n    /verify", " \t/verify",
		"<!-- -->\n/verify", "- /verify", "@ycbot /verify",
		"\u200b/verify", "\ufeff/verify", "\u00a0/verify", "\u202e/verify", "／verify", "/verіfy",
	} {
		if c, ok := ParseCommand(body); ok {
			t.Errorf("%q: %+v", body, c)
		}
	}
}

// Words are bounded by characters, not bytes, and it is known that some are lost.
func TestWordsAreBounded(t *testing.T) {
	t.Parallel()
	c, _ := ParseCommand("/verify -- " + strings.Repeat("é", MaxWords))
	if c.Words != strings.Repeat("é", MaxWords) || c.Cut {
		t.Errorf("just enough: %d bytes, cut %v", len(c.Words), c.Cut)
	}
	c, _ = ParseCommand("/verify -- " + strings.Repeat("é", MaxWords+1))
	if c.Words != strings.Repeat("é", MaxWords) || !c.Cut {
		t.Errorf("too many: %d bytes, cut %v", len(c.Words), c.Cut)
	}
}

// The help names every form of the grammar.
func TestHelpNamesAll(t *testing.T) {
	t.Parallel()
	all := []string{"full", "SHA", "-- words"}
	for _, f := range forms() {
		all = append(all, strings.TrimSpace(string(f.verb)+" "+f.after))
	}
	for _, form := range all {
		if !strings.Contains(Help(), "`/verify "+form+"`") {
			t.Errorf("the help does not name %q", form)
		}
	}
}

// FuzzParseCommand: only the closed grammar comes out, whatever goes in.
func FuzzParseCommand(f *testing.F) {
	for _, body := range []string{
		"/verify", "/verify full 0123abc -- look\r\nhere", "/verify stop", "/verify help x", "  \n /verify\tstatus",
		"> /verify", "/verify\u00a0", "/verify -- \xff\x00", "/verify —", "```\n/verify", "    /verify", "/verify `@a`",
		"/verify accept 0123abc meant",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c, ok := ParseCommand(body)
		if !ok {
			if c != (Command{}) {
				t.Fatalf("no command, and %+v", c)
			}
			return
		}
		if !strings.Contains(body, "/verify") {
			t.Fatal("a command out of nothing")
		}
		if c.Verb != VerbVerify && c.Verb != VerbAccept && c.SHA+c.Words != "" || c.Full && c.Verb != VerbVerify || (c.Reason != "" && c.Verb != VerbHelp) {
			t.Fatalf("%+v", c)
		}
		if c.SHA != "" && !IsSHA(c.SHA) || utf8.RuneCountInString(c.Words) > MaxWords || !utf8.ValidString(c.Words) {
			t.Fatalf("%+v", c)
		}
		if strings.ContainsAny(c.Reason, "@<>[]\\\n\r") || strings.Count(c.Reason, "`")%2 != 0 {
			t.Fatalf("reason %q", c.Reason)
		}
		if crlf, _ := ParseCommand(strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\n", "\r\n")); crlf != c {
			t.Fatalf("with CRLF %+v, else %+v", crlf, c)
		}
		if c.Verb != VerbVerify && !isVerb(string(c.Verb)) {
			t.Fatalf("verb %q", c.Verb)
		}
	})
}
