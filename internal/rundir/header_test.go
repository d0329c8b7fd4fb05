package rundir

import (
	"testing"

	"github.com/ycbot/ycbot/internal/change"
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
		{dirty, Settings{}, "ycbot run --dirty --base b1 --no-model"},
		{pull, Settings{First: true, Config: "x.yml"}, "ycbot run --pr 7 --repo o/n --head h1 --until first"},
	} {
		if got := (Begun{Source: Source{Change: tt.c}, Settings: tt.s}).command(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
