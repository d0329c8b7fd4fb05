package gate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// Setup of a head that is not trusted runs nothing that the head names while registries
// can be reached:
//
//   - Commands that fetch run in a folder with data of the tree and nothing else, which
//     the harness writes: manifests and lockfiles, cut to what says which packages are
//     needed. Their HOME is one that no command of the tree ever had.
//   - All other commands of setup have no network. They find what was fetched in HOME.
//   - Where the manifest is code, or names code that the package manager would run, only
//     the base's setup has registries, and the head's finds what that has fetched.

// setupOf are the commands that set a side up: p's, or those for a head that is not trusted.
func (r *runner) setupOf(side Side, p *sides.Plan) []ecosystem.Command {
	if r.Network != NetworkRegistries {
		return p.Setup
	}
	var fetches, rest []ecosystem.Command
	for _, c := range slices.Concat(p.Fetches, p.Setup) {
		if ecosystem.Untested(c.Text) != "" && !r.apart() {
			continue // see unproven
		}
		list := []ecosystem.Command{c}
		if c.Untrusted != nil {
			list = c.Untrusted(side)
		}
		eco := c.Eco
		for _, c := range list {
			c.Eco = eco
			if c.Data != nil || c.FillsModCache() {
				fetches = append(fetches, c)
			} else {
				rest = append(rest, c)
			}
		}
	}
	return append(fetches, rest...)
}

// fetchHome is the HOME of a side's commands that fetch.
func (r *runner) fetchHome(side Side) string {
	return filepath.Join(r.Scratch, string(side), "fetch", "home")
}

// layData writes the data for c into a new folder, and gives it HOME.
func (r *runner) layData(ctx context.Context, side Side, c *ecosystem.Command) (dir, home string, err error) {
	home = r.fetchHome(side)
	if !folder.Exists(home) {
		if err := r.begin(ctx, side, home); err != nil {
			return "", "", err
		}
	}
	dir = filepath.Join(r.Scratch, string(side), "fetch", "data")
	if err := folder.RemoveAll(ctx, dir); err != nil {
		return "", "", err
	}
	if err := folder.Make(filepath.Join(dir, filepath.FromSlash(c.Unit))); err != nil {
		return "", "", err
	}
	files := c.Data(r.plan[side].Survey)
	if eco := ecosystem.Named(c.Eco); eco != nil && eco.Pin != nil {
		if c.OwnProgram, err = eco.Pin(c.Unit, files, func(name string) ([]byte, error) { return r.atBase(ctx, name) }); err != nil {
			return "", "", err
		}
	}
	for name, data := range files {
		if err := writeInTree(dir, name, data); err != nil {
			return "", "", err
		}
	}
	return dir, home, nil
}

// atBase reads a file of the base, nil where it has none, or no regular file.
func (r *runner) atBase(ctx context.Context, name string) ([]byte, error) {
	data, err := r.Mirror.ReadFile(ctx, r.in.Base.Commit, name)
	if err != nil && ctx.Err() == nil {
		return nil, nil //nolint:nilerr // as said
	}
	return data, err
}

// takeFetched puts what c has fetched into a side's HOME.
func (r *runner) takeFetched(ctx context.Context, side Side, c ecosystem.Command) error {
	eco := ecosystem.Named(c.Eco)
	if eco == nil {
		return nil
	}
	for _, part := range eco.Fetched {
		from, to := filepath.Join(r.fetchHome(side), part), filepath.Join(r.home(side), part)
		if !folder.Exists(from) {
			continue
		}
		if err := folder.RemoveAll(ctx, to); err != nil {
			return err
		}
		if err := folder.Make(to); err != nil {
			return err
		}
		if err := folder.Copy(ctx, from, to); err != nil {
			return err
		}
	}
	return nil
}

// writeInTree writes a file that a name of an untrusted tree stands for.
func writeInTree(dir, name string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%s lies outside of the repository", name)
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := folder.Make(filepath.Dir(file)); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// unproven says which package managers set p up that no test tries: the report names them,
// and commands that share anything with this machine are not left to them.
func (r *runner) unproven(p *sides.Plan) {
	if r.Network != NetworkRegistries {
		return
	}
	for _, c := range slices.Concat(p.Fetches, p.Setup) {
		name := ecosystem.Untested(c.Text)
		if name == "" {
			continue
		}
		if !r.apart() && r.facts.Unprepared == "" {
			r.facts.Unprepared = "setup by " + name + ", which is untested: for a head that is not trusted it needs a sandbox of tier full"
		}
		text := "setup by " + name + " of a head that is not trusted: untested: it is set up by its documented settings, and was not tried with the program"
		if r.apart() && r.as == nil {
			r.note("%s", text)
		}
	}
}
