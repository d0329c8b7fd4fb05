package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
)

// The sentences about a run that both renderings share. All are plain: untrusted
// parts have gone through plain, and Markdown escapes them once more.

// compared says which commits were compared.
func (r *Report) compared() string {
	head := change.Short(r.HeadSHA)
	if r.Dirty {
		head += " (uncommitted working tree)"
	}
	base := change.Short(r.BaseSHA)
	if r.MergeBase != "" && r.MergeBase != r.BaseSHA {
		base = change.Short(r.MergeBase) + " (merge base with " + base + ")"
	}
	return plain("base " + orUnknown(base) + " → head " + orUnknown(head))
}

// size says how large the change is.
func (r *Report) size() string {
	switch {
	case r.Changes != (Changes{}):
	case r.HeadSHA != "" && r.HeadSHA == r.MergeBase, r.Verdict == Pass, r.Verdict == Fail, r.Verdict == Partial:
		return "no file changed"
	default:
		return "size unknown"
	}
	return fmt.Sprintf("%s +%d −%d", plural(r.Changes.Files, "file"), r.Changes.Added, r.Changes.Deleted)
}

// origin says what asked for the run and how far the change is trusted.
func (r *Report) origin() string {
	s := plain(r.Trigger)
	if r.Actor != "" {
		s += " by " + plain(r.Actor)
	}
	if r.Trust != "" {
		s += ", " + plain(r.Trust)
	}
	return s
}

// tier names the tier of isolation.
func (r *Report) tier() string {
	if r.Sandbox.Tier == "" || oneOf("tier", r.Sandbox.Tier, tiers()...) != nil {
		return "not determined"
	}
	return r.Sandbox.Tier
}

// contained says on one line how commands were contained. The layers are in report.json
// and in "ycbot sandbox doctor".
func (r *Report) contained() string {
	line := r.tier()
	if r.Sandbox.Tier == "none" && r.Usage.Commands == 0 {
		line += ", nothing was run"
	}
	held := 0
	for _, c := range r.Sandbox.SelfTest {
		if c.Held {
			held++
		}
	}
	if n := len(r.Sandbox.SelfTest); n > 0 {
		line += fmt.Sprintf(", self-test %d of %d held", held, n)
	}
	if r.Sandbox.Tier == "full" { // what it lacks opens nothing by itself
		for _, m := range r.Sandbox.Missing {
			line += "; " + lackOf(m)
		}
	}
	return line
}

// lackOf is in few words what a sandbox of tier full lacks, of "layer: why".
func lackOf(missing string) string {
	name, _, _ := strings.Cut(plain(missing), ":")
	if name == "cgroup" {
		return "memory is watched (no cgroup)"
	}
	return "no " + name
}

// warning is what a reader must know before trusting the machine that ran this.
func (r *Report) warning() string {
	if r.Sandbox.Tier == "none" && r.Usage.Commands > 0 {
		return "the change's code ran WITHOUT ISOLATION, with all rights of the user who ran it"
	}
	return ""
}

// uncontained says what the sandbox lacks beside what [Report.contained] says, one thing
// each.
func (r *Report) uncontained() []string {
	var out []string
	if r.Sandbox.Tier != "full" {
		out = mapped(r.Sandbox.Missing, func(m string) string { return "missing: " + plain(m) })
	}
	for _, c := range r.Sandbox.SelfTest {
		if c.Held {
			continue
		}
		m := "did not hold: " + plain(c.Name)
		if c.Note != "" {
			m += " (" + plain(c.Note) + ")"
		}
		out = append(out, m)
	}
	return out
}

// used says what the run used.
func (r *Report) used() string {
	u := r.Usage
	parts := []string{plural(u.Commands, "command")}
	if r.Model != "" {
		about := ""
		if u.Estimated {
			about = "~"
		}
		in := about + tokens(u.InputTokens) + " tokens in"
		if u.CachedTokens > 0 {
			in += " (" + tokens(u.CachedTokens) + " cached)"
		}
		cost := "cost unknown"
		if u.CostUSD != nil {
			cost = dollars(*u.CostUSD)
		}
		parts = append(parts, in, about+tokens(u.OutputTokens)+" out", cost)
	}
	return strings.Join(parts, " · ")
}

// took says where the time went.
func (r *Report) took() string {
	s := duration(r.Timings.DurationMS)
	var parts []string
	for _, st := range r.Timings.Stages {
		parts = append(parts, plain(st.Name)+" "+duration(st.DurationMS))
	}
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, " · ")
	}
	for _, known := range r.Timings.Cached {
		s += "; reused: " + plain(known)
	}
	return s
}

// provenance says what verified the change.
func (r *Report) provenance() string {
	v := r.Versions
	parts := []string{"ycbot " + orUnknown(plain(v.Ycbot))}
	if v.Git != "" { // a run that ended at once may not have asked
		parts = append(parts, "git "+plain(v.Git))
	}
	if v.OS != "" {
		parts = append(parts, plain(v.OS))
	}
	for _, name := range slices.Sorted(maps.Keys(v.Toolchains)) {
		version := v.Toolchains[name]
		if !strings.HasPrefix(version, name) {
			version = name + " " + version
		}
		parts = append(parts, plain(version))
	}
	return strings.Join(parts, ", ")
}

// line describes an agent's part but for its name.
func (s Subagent) line() string {
	cost := ""
	if s.CostUSD > 0 {
		cost = dollars(s.CostUSD)
	}
	outcome, isolation := s.Outcome, ""
	if outcome == s.Status {
		outcome = ""
	}
	if s.Isolation != "" {
		isolation = "isolation " + s.Isolation
	}
	return dotted(
		plain(s.Status), plain(outcome), plain(s.Verdict), plain(s.Model),
		plural(s.Iterations, "turn"), plural(s.ToolCalls, "call"), tokens(s.Tokens)+" tokens", cost,
		duration(s.DurationMS), plain(isolation), plain(s.Transcript),
	)
}

// line says what was refused and why.
func (d Denial) line() string {
	s := plain(d.Agent + " " + d.Tool + " " + d.Target)
	var why []string
	for _, w := range []string{d.Code, d.Rule, d.Source, d.Hint} {
		if w != "" && (w != d.Source || strings.Contains(w, ":")) { // of sources those that are files say more than the code
			why = append(why, plain(w))
		}
	}
	return s + ": " + strings.Join(why, ", ")
}

// place is where a finding is, such as "calc/div.go:12".
func (f Finding) place() string {
	if f.Path == "" || f.Line == 0 {
		return plain(f.Path)
	}
	return fmt.Sprintf("%s:%d", plain(f.Path), f.Line)
}

// ids names evidence, the first of it where there is much.
func ids(evidence []string) string {
	const most = 6
	s := joinPlain(evidence[:min(len(evidence), most)])
	if left := len(evidence) - most; left > 0 {
		s += fmt.Sprintf(" and %d more", left)
	}
	return s
}

// dotted joins what there is of parts.
func dotted(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

func joinPlain(ss []string) string {
	out := slices.DeleteFunc(mapped(ss, plain), func(s string) bool { return s == "" })
	return strings.Join(out, ", ")
}

func mapped[T any](in []T, f func(T) string) []string {
	out := make([]string, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
