package rundir

import (
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// TestCommand: what repeats a run goes as far as the run did.
func TestCommand(t *testing.T) {
	t.Parallel()
	local, pull := change.Change{BaseSHA: "b1", HeadSHA: "h1"}, change.Change{BaseSHA: "b1", HeadSHA: "h1", PR: 7, Repo: "o/n"}
	dirty := local
	dirty.Dirty = true
	for _, tt := range []struct {
		c    change.Change
		s    Settings
		want string
	}{
		{local, Settings{}, "ycbot run --base b1 --head h1 --no-model"},
		{local, Settings{First: true}, "ycbot run --base b1 --head h1 --until first"},
		{local, Settings{Model: true}, "ycbot run --base b1 --head h1"},
		{local, Settings{Model: true, Agents: &AgentSettings{Agents: []string{"a", "b"}}, Config: "my file"}, "ycbot run --base b1 --head h1 --config 'my file' --agents 'a,b'"},
		{
			local,
			Settings{Model: true, Agents: &AgentSettings{Agents: []string{"struct"}, Dir: "my agents", Coordinator: true}},
			"ycbot run --base b1 --head h1 --agents struct --agents-dir 'my agents' --coordinator",
		},
		{local, Settings{Model: true, Agents: &AgentSettings{Dir: "a"}}, "ycbot run --base b1 --head h1 --agents-dir a"},
		{local, Settings{First: true, Agents: &AgentSettings{Dir: "a", Coordinator: true}}, "ycbot run --base b1 --head h1 --until first"},
		{dirty, Settings{}, "ycbot run --dirty --base b1 --no-model"},
		{pull, Settings{First: true, Config: "x.yml"}, "ycbot run --pr 7 --repo o/n --head h1 --until first"},
	} {
		if got := (Begun{Source: Source{Change: tt.c}, Settings: tt.s}).command(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestResume: what goes on with a run has all that makes it the same one.
func TestResume(t *testing.T) {
	t.Parallel()
	local := Begun{
		Dir: "../out", Identity: Identity{Root: "/src/my calc", Task: Digest("fix #12")},
		Source:   Source{Change: change.Change{BaseSHA: "b1", HeadSHA: "h1", Task: "fix #12"}},
		Settings: Settings{Network: NetworkSetup, Sandbox: sandbox.Status{Tier: sandbox.TierFull}},
	}
	asked := local
	asked.Source.Change.Task = "fix [redacted]" // a text that is not the one that was given
	asked.Settings.Network, asked.Settings.Sandbox.Tier, asked.Settings.Model, asked.Settings.Timeout = NetworkNone, sandbox.TierBasic, true, time.Hour
	asked.Settings.Agents = &AgentSettings{
		Agents: []string{"a"}, Flags: []string{"--provider", "openai", "--model", "gpt-5"}, Coordinator: true, NoBackground: true, Mode: "plan", Effort: "high", Dir: "own",
		MaxTokens: 9, MaxCostUSD: 0.5, MaxIterations: 3, Exec: "inspect",
	}
	first := asked
	first.Settings.First, first.Settings.Model = true, false
	first.Settings.Agents = &AgentSettings{Agents: []string{"a"}, Mode: "verify"} // recorded before flags were
	pull := local
	pull.Source.Change.PR, pull.Source.Change.Repo, pull.Settings.Config, pull.Settings.First = 7, "o/n", "x.yml", true
	pull.Settings.Require, pull.Settings.Sandbox.Tier, pull.Settings.Trust = sandbox.TierFull, sandbox.TierBasic, "untrusted"
	for _, tt := range []struct {
		b    Begun
		want string
	}{
		{local, "ycbot run --base b1 --head h1 --no-model -C '/src/my calc' --task 'fix #12' --sandbox full --out ../out"},
		{asked, "YCBOT_EXEC=inspect ycbot run --base b1 --head h1 --agents a --agents-dir own --coordinator -C '/src/my calc' --task-file FILE --provider openai --model gpt-5 --no-background --mode plan" +
			" --effort high --max-tokens 9 --max-cost-usd 0.5 --max-iterations 3 --timeout 1h0m0s --network none --sandbox basic --out ../out"},
		{first, "ycbot run --base b1 --head h1 --until first -C '/src/my calc' --task-file FILE --model NAME --agents a --timeout 1h0m0s --network none --sandbox basic --out ../out"},
		{pull, "ycbot run --pr 7 --repo o/n --head h1 --until first --config x.yml --task 'fix #12' --no-model --out ../out"},
	} {
		if got := tt.b.resume(); got != tt.want {
			t.Errorf("%q, want\n%q", got, tt.want)
		}
	}
}
