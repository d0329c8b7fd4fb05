package preparation

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// setUp runs the setup commands of a side.
func (prep *Preparation) setUp(ctx context.Context, side results.Side) error {
	unfetched := ""
	for _, c := range prep.SetupOf(side, prep.Plans[side]) {
		if side == results.Head && prep.failsAgain(c) {
			continue
		}
		if prep.Network != execution.NetworkRegistries { // else what is fetched and what is built are commands of their own
			if done, err := prep.reuse(ctx, side, c); err != nil || done {
				if err != nil {
					return err
				}
				continue
			}
		}
		step, err := prep.withRetry(ctx, side, prep.Limited(side, c))
		if err != nil {
			return err
		}
		unfetched = prep.offline(c, step, unfetched)
		if c.Data != nil && !staleLock.MatchString(step.Output) { // what it could not fetch the commands after it may do without
			continue
		}
		if err := prep.unprepared(ctx, step); err != nil {
			return err
		}
	}
	if side == results.Base && prep.why == "" && prep.As == nil && !prep.Rest && !slices.ContainsFunc(prep.Steps.Of(results.StageSetup, results.Base), ecosystem.Step.Failed) {
		prep.Harvest(ctx)
	}
	return nil
}

// failsAgain says whether the head's command of setup would fail for what the base's did, which
// lies outside: the change touches nothing that says what is fetched.
func (prep *Preparation) failsAgain(c ecosystem.Command) bool {
	if prep.why == "" || !prep.baseFails || slices.ContainsFunc(prep.Change.Paths(), languages.Steers) {
		return false
	}
	failed := false
	for _, s := range prep.Steps.Of(results.StageSetup, results.Base) {
		if s.Unit == c.Unit && s.Command == c.Text {
			failed = s.Failed() && s.Environment != "" // the last one counts
		}
	}
	return failed
}

// staleLock is what Cargo says of a Cargo.lock that does not go with its manifests. A build
// without --locked goes on with another one.
var staleLock = pattern.New(`cannot update the lock file|lock file \S+ needs to be updated`)

// withRetry tries a second time what failed.
func (prep *Preparation) withRetry(ctx context.Context, side results.Side, c ecosystem.Command) (ecosystem.Step, error) {
	step, err := prep.Run(ctx, side, prep.Tree(side), c, nil)
	if err != nil || !step.Failed() || step.TimedOut {
		return step, err
	}
	return prep.Run(ctx, side, prep.Tree(side), c, nil)
}

// unprepared keeps the first reason for which a side cannot be judged. A setup that
// only the head fails is held against the change where its output names what the
// change has written, and is the environment's otherwise.
func (prep *Preparation) unprepared(ctx context.Context, s ecosystem.Step) error {
	if !s.Failed() || prep.why != "" {
		return nil
	}
	if prep.WantsNewer(s) {
		return nil
	}
	why := s.Environment
	switch {
	case why != "" && s.Stage == results.StageSetup && prep.Network == execution.NetworkNone:
		why = "it has no network, as this run was asked to give it none: " + why
	case why == "" && s.Stage == results.StageSetup && s.Side == results.Head && !prep.failsAtBase(s):
		blamed, err := prep.blamed(ctx, s)
		if err != nil {
			return err
		}
		if !blamed {
			why = "it failed twice, and its output does not show that the change is the reason: " + cmp.Or(results.FailureLine(s.Output), lastLine(s.Output))
			if s.TimedOut {
				why = "it did not end within its time limit"
			}
		}
	}
	if why != "" {
		prep.why = fmt.Sprintf("%s: %s: %s", s.Side, brief(s.Label()), why)
		prep.baseFails = s.Side == results.Base
	}
	return nil
}

// maxBrief is how much of a command stands before a reason, in bytes.
const maxBrief = 72

// brief is the beginning of a command: the reason is behind it, and is what people look for.
func brief(command string) string {
	line, _, more := strings.Cut(command, "\n")
	if len(line) <= maxBrief && !more {
		return line
	}
	return strings.ToValidUTF8(line[:min(len(line), maxBrief)], "") + " …"
}

// failsAtBase says whether the base fails the same command.
func (prep *Preparation) failsAtBase(s ecosystem.Step) bool {
	failed := false
	for _, b := range prep.Steps.Of(s.Stage, results.Base) {
		if b.Unit == s.Unit && b.Command == s.Command {
			failed = b.Failed() // the last one counts
		}
	}
	return failed
}

// manifestWord is a word of a manifest that can name a dependency or its version.
var manifestWord = pattern.New(`[A-Za-z0-9@][A-Za-z0-9@/_.+-]{2,}`)

// blamed says whether the output of a failed setup names a file that the change
// touches, or something that it has written into a manifest or lockfile.
func (prep *Preparation) blamed(ctx context.Context, s ecosystem.Step) (bool, error) {
	output := "\n" + s.Output + "\n"
	for _, f := range prep.Change.Files {
		if !ecosystem.Inside(s.Unit, f.Path) && s.Unit != "" {
			continue
		}
		if results.Mentions(output, path.Base(f.Path)) {
			return true, nil
		}
		if !languages.Steers(f.Path) || f.Status == change.Deleted {
			continue
		}
		after, err := prep.Mirror.ReadFile(ctx, prep.Head.Commit, f.Path)
		if err != nil {
			return false, fmt.Errorf("manifest %s: %w", f.Path, err)
		}
		old := f.Path
		if f.OldPath != "" {
			old = f.OldPath
		}
		before, err := prep.Mirror.ReadFile(ctx, prep.Base.Commit, old)
		if err != nil && ctx.Err() != nil {
			return false, err
		}
		known := manifestWord.FindAllString(string(before), -1)
		for _, word := range manifestWord.FindAllString(string(after), -1) {
			if !slices.Contains(known, word) && results.Mentions(output, word) {
				return true, nil
			}
		}
	}
	return false, nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// settle forgives setups that failed where all was there nevertheless, as a command of
// their ecosystem shows, such as one that lists what the packages of each module and their
// tests are made of: without a network, or in a workspace whose modules name one another in
// versions that no registry has. Other setups are not forgiven: there is no such proof.
func (prep *Preparation) settle(ctx context.Context, side results.Side) error {
	why := prep.why
	if why != "" && !strings.HasPrefix(why, string(side)+":") || prep.Configured(results.StageSetup) {
		return nil
	}
	forgiven, all, said := "", true, why == ""
	for _, c := range prep.Plans[side].Setup {
		at := prep.lastSetup(side, c)
		if at < 0 || !prep.Steps[at].Failed() {
			continue
		}
		there, err := prep.allThere(ctx, side, c)
		if err != nil {
			return err
		}
		if !there {
			all = false
			continue
		}
		s := &prep.Steps[at]
		s.Environment = cmp.Or(s.Environment, results.FailureLine(s.Output))
		prep.forgiven[s.Evidence] = true
		forgiven = cmp.Or(forgiven, fmt.Sprintf("%s: %s: %s", side, s.Command, s.Environment))
		said = said || strings.HasPrefix(why, fmt.Sprintf("%s: %s: ", side, s.Command)) // else it is a build that is why
	}
	if forgiven == "" || !all || !said {
		return nil
	}
	prep.Note("%s; all that is needed was there already", forgiven)
	prep.why = ""
	return nil
}

// allThere says whether all is there that a setup command was to fetch.
func (prep *Preparation) allThere(ctx context.Context, side results.Side, c ecosystem.Command) (bool, error) {
	proof, ok := installed(c)
	if !ok {
		return false, nil
	}
	proof.Timeout = prep.StepLimit
	step, err := prep.Run(ctx, side, prep.Tree(side), proof, nil)
	return err == nil && !step.Failed(), err
}

// installed is the command that shows that all is there which c was to fetch; false where
// there is none.
func installed(c ecosystem.Command) (ecosystem.Command, bool) {
	if by := languages.PackagesOf(c.Eco); by != nil {
		return by.Installed(c)
	}
	return c, false
}

// SetupFailed says whether the last run of a setup command failed.
func (prep *Preparation) SetupFailed(side results.Side, c ecosystem.Command) bool {
	at := prep.lastSetup(side, c)
	return at >= 0 && prep.Steps[at].Failed()
}

// lastSetup is the step of the last run of a setup command, below zero where there is none.
func (prep *Preparation) lastSetup(side results.Side, c ecosystem.Command) int {
	for i, s := range slices.Backward(prep.Steps) {
		if s.Side == side && s.Stage == results.StageSetup && s.Unit == c.Unit && s.Command == c.Text {
			return i
		}
	}
	return -1
}

// reuse copies what setup has installed at the base where the head's setup would
// install the same: the command is the same, it runs no script of the project, and
// the change leaves alone all that decides what is installed.
func (prep *Preparation) reuse(ctx context.Context, side results.Side, c ecosystem.Command) (bool, error) {
	if side != results.Head || prep.Prepared(results.Base) == nil || !prep.installsTheSame(c) {
		return false, nil
	}
	from := filepath.Join(prep.Prepared(results.Base).Tree.Dir, filepath.FromSlash(c.Unit), c.Installs)
	to := filepath.Join(prep.Head.Dir, filepath.FromSlash(c.Unit), c.Installs)
	if info, err := os.Lstat(from); err != nil || !info.IsDir() {
		return false, nil
	}
	if _, err := os.Lstat(to); err == nil {
		return false, nil // it is tracked, at least in part
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return false, nil // a folder of its path is missing or no folder
	}
	if err := folder.Copy(ctx, from, to); err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		return false, os.RemoveAll(to) // setup makes it
	}
	return true, nil
}

func (prep *Preparation) installsTheSame(c ecosystem.Command) bool {
	same := func(d ecosystem.Command) bool {
		return d.Unit == c.Unit && d.Text == c.Text && d.Installs == c.Installs
	}
	return c.Installs != "" && prep.Named(results.Head) == results.Head &&
		slices.ContainsFunc(prep.Plans[results.Base].Setup, same) && !prep.SetupFailed(results.Base, c) &&
		!slices.ContainsFunc(prep.Change.Paths(), func(name string) bool { return ecosystem.Inside(c.Unit, name) && decidesInstall(name) })
}

// decidesInstall knows the files that decide what package managers install.
func decidesInstall(name string) bool {
	base := path.Base(name)
	return languages.Steers(name) || strings.HasPrefix(base, ".npmrc") || strings.HasPrefix(base, ".yarnrc") || strings.HasPrefix(base, ".pnpmfile") ||
		strings.HasPrefix(base, "bun.lock") || base == "bunfig.toml" || strings.Contains(name, "node_modules/")
}
