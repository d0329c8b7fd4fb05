package orchestrator

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// usefulPrograms are those that a probe may need; an agent is given the list of those that
// there are, so that it does not find out by trying.
func usefulPrograms() []string {
	return strings.Fields("bash curl wget jq git make gcc clang go gofmt node npm npx python3 pytest ruby java mvn cargo dotnet php " +
		"sqlite3 psql redis-server nc socat strace openssl chromium chromium-browser google-chrome docker")
}

// browsers are the names of programs that render a page.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// machine says what an agent that runs commands must know of the machine, one sentence
// each. It is found out once for a run and in the journal, so that all agents are given
// the same, and those of a replay too, wherever that takes place.
func (w *work) machine(c sandbox.Command) ([]string, error) {
	if r := w.agents.models.Recorded; r != nil {
		return r.Machine, nil
	}
	w.looking.Lock()
	defer w.looking.Unlock()
	return journal.OnceSoon(w.dir.Journal, "run", "machine", func() ([]string, error) {
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
		programs := programs(c, settings.Sandbox.Search)
		if len(programs) > 0 {
			missing := slices.DeleteFunc(usefulPrograms(), func(name string) bool { return slices.Contains(programs, name) })
			out = append(out, "Programs that are there, of those that probes often use: "+strings.Join(programs, " ")+".", "Not there: "+strings.Join(missing, " ")+".")
		}
		if d := durations(w.gate); d != "" {
			out = append(out, "How long commands of the gate took here: "+d+".")
		}
		return append(out, page(programs)...), nil
	})
}

// programs are the useful programs that a command like c finds. They are looked for from
// outside, where directories have the same names: a command would have to wait until the
// sandbox was tried out.
func programs(c sandbox.Command, search []string) []string {
	for _, kv := range c.Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = filepath.SplitList(path)
		}
	}
	return slices.DeleteFunc(usefulPrograms(), func(name string) bool {
		return !slices.ContainsFunc(search, func(dir string) bool {
			info, err := os.Stat(filepath.Join(dir, name))
			return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
		})
	})
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
