package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// usefulPrograms are those that a probe may need; an agent is given the list of those that
// there are, so that it does not find out by trying.
const usefulPrograms = "bash curl wget jq git make gcc clang go gofmt node npm npx python3 pytest ruby java mvn cargo dotnet php " +
	"sqlite3 psql redis-server nc socat strace openssl chromium chromium-browser google-chrome docker"

// browsers are the names of programs that render a page.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// searchTime is how long looking for programs may take.
const searchTime = 20 * time.Second

// machine says what an agent that runs commands must know of the machine, one sentence
// each. It is found out once for a run and in the journal, so that all agents are given
// the same, and those of a replay too, wherever that takes place.
func (w *work) machine(ctx context.Context, c sandbox.Command, dir string) ([]string, error) {
	if r := w.agents.models.Recorded; r != nil {
		return r.Machine, nil
	}
	w.looking.Lock()
	defer w.looking.Unlock()
	return journal.Once(w.dir.Journal, "run", "machine", func() ([]string, error) {
		programs, err := w.programs(ctx, c, dir)
		if err != nil {
			return nil, err
		}
		settings, _ := rundir.Lookup[rundir.Settings](w.dir.Journal, "run", "circumstances")
		reach := "commands reach their own loopback interface and no other network."
		if settings.Network == rundir.NetworkFull {
			reach = "commands may use the network."
		}
		out := []string{fmt.Sprintf("Machine: %s/%s, %d processors; sandbox tier %s; %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), settings.Sandbox.Tier, reach)}
		if v := w.gate.Toolchains; len(v) > 0 {
			var known []string
			for _, name := range slices.Sorted(maps.Keys(v)) {
				known = append(known, name+" "+v[name])
			}
			out = append(out, "Toolchains: "+strings.Join(known, ", ")+".")
		}
		if len(programs) > 0 {
			missing := slices.DeleteFunc(strings.Fields(usefulPrograms), func(name string) bool { return slices.Contains(programs, name) })
			out = append(out, "Programs that are there, of those that probes often use: "+strings.Join(programs, " ")+".", "Not there: "+strings.Join(missing, " ")+".")
		}
		if d := durations(w.gate); d != "" {
			out = append(out, "How long commands of the gate took here: "+d+".")
		}
		return append(out, page(programs)...), nil
	})
}

// programs are the useful programs that commands of an agent find. Where that cannot be
// found out an agent can try.
func (w *work) programs(ctx context.Context, c sandbox.Command, dir string) ([]string, error) {
	c.Argv = reproduce.Bash("for p in " + usefulPrograms + `; do if command -v "$p" >/dev/null; then echo "$p"; fi; done`)
	c.Dir, c.Timeout = dir, searchTime
	res, err := w.sides.Sandbox.Run(ctx, c)
	if err != nil || res.Exit != 0 {
		w.log.WarnContext(ctx, "look for programs", "exit", res.Exit, "error", err)
		return nil, context.Cause(ctx)
	}
	return strings.Fields(string(res.Stdout.Bytes)), nil
}

// page says how a page is looked at where there is a browser.
func page(programs []string) []string {
	for _, name := range browsers {
		if slices.Contains(programs, name) {
			return []string{"A page can be rendered while its server runs: " + name +
				` --headless --no-sandbox --disable-gpu --user-data-dir="$TMPDIR/browser" --virtual-time-budget=5000 --dump-dom URL prints the document after its scripts ran; --screenshot="$TMPDIR/page.png" --window-size=1280,800 shows that it draws.`}
		}
	}
	return nil
}

// limits are those that end an agent's work, in numbers.
func (w *work) limits(p *provisioning) string {
	questions := min(cmp.Or(p.spec.MaxIterations, agents.DefaultIterations), agents.MaxIterations)
	for _, most := range []int{w.runner.Caps.MaxIterations, p.rec.MaxIterations} {
		if most > 0 {
			questions = min(questions, most)
		}
	}
	parts := []string{fmt.Sprintf("%d answers, each of which may hold several calls", questions)}
	if d := p.spec.Timeout; d > 0 {
		parts = append(parts, d.String())
	}
	if n := p.spec.OutputTokens; n > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens of your own output", n))
	}
	if b := w.agents.budget; b.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("%.2f USD for all agents of the run", b.CostUSD))
	}
	if b := w.agents.budget; b.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens for all agents of the run", b.Tokens))
	}
	return "Your limits: " + strings.Join(parts, "; ") + ". Near one of them you are asked for your reply: have something to report by half of them."
}
