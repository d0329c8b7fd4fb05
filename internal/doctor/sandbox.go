package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/attack"
)

// Tiers are what each tier of the sandbox is worth on a machine.
type Tiers struct {
	Best    sandbox.Tier `json:"best"`   // what --sandbox auto takes
	Holds   bool         `json:"holds"`  // the best tier holds all that it promises
	Broken  []string     `json:"broken"` // attacks that work there and should not
	Tiers   []tier       `json:"tiers"`
	Attacks []attack.Row `json:"attacks"`
}

// A tier is one that was tried.
type tier struct {
	Tier   sandbox.Tier    `json:"tier"`
	Error  string          `json:"error,omitempty"` // why it cannot be had
	Status *sandbox.Status `json:"status,omitempty"`
}

// ExamineTiers tries each tier, and attacks it with the program that runs, which attacks
// itself when its first argument is command. temp is an empty folder with a short name.
func ExamineTiers(ctx context.Context, m machine.Machine, command, temp string) (*Tiers, error) {
	found := &Tiers{Broken: []string{}}
	tools, _ := gate.FindToolchains(ctx, m.Env) // what is wrong with them is said by "ycbot doctor"
	tried := map[sandbox.Tier]map[string]attack.Verdict{}
	for _, level := range []sandbox.Tier{sandbox.TierFull, sandbox.TierBasic, sandbox.TierNone} {
		box, err := sandbox.Detect(ctx, m.SandboxOptions(string(level), temp, tools))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			found.Tiers = append(found.Tiers, tier{Tier: level, Error: err.Error()})
			continue
		}
		found.Best = cmp.Or(found.Best, level)
		status := box.Status()
		found.Tiers = append(found.Tiers, tier{Tier: level, Status: &status})
		if tried[level], err = attackTier(ctx, m, command, level, filepath.Join(temp, string(level))); err != nil {
			return nil, err
		}
	}
	found.Attacks = attack.Table(tried)
	found.Broken = append(found.Broken, attack.Broken(found.Attacks, found.Best)...)
	found.Holds = len(found.Broken) == 0
	return found, nil
}

// attackTier runs the attacks in a tier.
func attackTier(ctx context.Context, m machine.Machine, command string, level sandbox.Tier, dir string) (map[string]attack.Verdict, error) {
	if len(m.Shim) == 0 {
		return nil, errors.New("the program's own file is not known, so it cannot attack itself")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	self := attack.Program{Self: []string{m.Shim[0], command}, Shim: m.Shim, Path: m.Getenv("PATH")}
	return attack.Try(ctx, self, string(level), dir, os.Geteuid(), io.Discard)
}

// Text is what was found, for people.
func (d *Tiers) Text() string {
	var b strings.Builder
	for _, t := range d.Tiers {
		if t.Status == nil {
			fmt.Fprintf(&b, "%s: not available\n  %s\n", t.Tier, t.Error)
		} else {
			describe(&b, string(t.Tier), *t.Status)
		}
	}
	d.matrix(&b)
	fmt.Fprintf(&b, "--sandbox auto takes %s here", d.Best)
	switch {
	case !d.Holds:
		fmt.Fprintf(&b, ", which does NOT hold what it promises: %s.\n", strings.Join(d.Broken, ", "))
	case d.Best == sandbox.TierNone:
		b.WriteString(", which promises nothing.\n")
	default:
		b.WriteString(", which holds all that it promises.\n")
	}
	if d.Best != sandbox.TierFull {
		b.WriteString("\"ycbot sandbox prepare\", as root, does what it can for tier full; docs/security.md has the rest.\n")
	}
	return b.String()
}

// matrix is a line for each attack and a column for each tier.
func (d *Tiers) matrix(b *strings.Builder) {
	if len(d.Attacks) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-49s", "attack")
	for _, t := range d.Tiers {
		fmt.Fprintf(b, " %-6s", t.Tier)
	}
	b.WriteString("\n")
	open := map[sandbox.Tier]int{}
	for _, r := range d.Attacks {
		fmt.Fprintf(b, "%s %-45s", r.ID, r.Name)
		for _, t := range d.Tiers {
			v := string(r.Results[t.Tier])
			switch attack.Verdict(v) {
			case attack.NotApplicable:
				v = "n/a"
			case attack.Open:
				open[t.Tier]++
				v = "OPEN"
			case "":
				v = "-"
			}
			fmt.Fprintf(b, " %-6s", v)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "%-49s", "open")
	for _, t := range d.Tiers {
		if t.Status == nil {
			fmt.Fprintf(b, " %-6s", "-")
		} else {
			fmt.Fprintf(b, " %-6d", open[t.Tier])
		}
	}
	b.WriteString("\n(n/a: it does not work here without a sandbox either; -: the tier is unavailable)\n\n")
}

func describe(b *strings.Builder, mode string, s sandbox.Status) {
	fmt.Fprintf(b, "%s: works", mode)
	if n := len(s.SelfTest); n > 0 {
		held := 0
		for _, c := range s.SelfTest {
			if c.Held {
				held++
			}
		}
		fmt.Fprintf(b, ", %d of %d canaries held", held, n)
	}
	b.WriteString("\n")
	for _, l := range s.Layers {
		fmt.Fprintf(b, "  + %s\n", l)
	}
	for _, m := range s.Missing {
		fmt.Fprintf(b, "  - %s\n", m)
	}
	for _, c := range s.SelfTest {
		if !c.Held {
			fmt.Fprintf(b, "  ! did not hold: %s (%s)\n", c.Name, c.Note)
		}
	}
}
