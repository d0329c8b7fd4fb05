package rundir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Layout is where a run has its folders outside of its directory. Commands and
// their outputs name these folders, so that each attempt at a run records them.
type Layout struct {
	Home  string `json:"home"`  // the harness's own files: projects, their mirrors, caches and runs
	Trees string `json:"trees"` // the run's worktrees, and what its commands may write besides
	// Temp holds TMPDIR of its commands. It lies outside of Trees, because sockets in it
	// must have a short path, and keeps its name when the run is continued.
	Temp string `json:"temp"`
}

// Entries of the journal with the folders of a run. They are stored: do not change
// them.
const (
	kindLayout    = "layout"    // keys count the attempts at the run that had another layout
	kindWorkspace = "workspace" // keys are the ids of agents
)

// Folders of agents below Layout.Trees.
const (
	AgentTrees   = "agents"
	EarlierTrees = "earlier" // trees that agents had when the run was killed
	copies       = "again"   // of what is run again
)

// NewLayout is the layout of a run on the repository that root stands for.
func NewLayout(home, root, run string) Layout {
	return Layout{
		Home: home, Trees: filepath.Join(home, "projects", workspace.Slug(root), "worktrees", run), Temp: filepath.Join(home, "tmp", "y-"+Short(run)),
	}
}

// Project is the project's folder: its mirror, caches and runs.
func (l Layout) Project() string { return filepath.Dir(filepath.Dir(l.Trees)) }

// Mirror is the project's bare repository.
func (l Layout) Mirror() string { return filepath.Join(l.Project(), "mirror.git") }

// Agent is where the commands of an agent work. Its folders have the same names when
// the run is continued, because its conversation names them.
func (l Layout) Agent(id string) evidence.Roots {
	return evidence.Roots{
		Tree: filepath.Join(l.Trees, AgentTrees, id), Home: filepath.Join(l.Trees, "scratch", AgentTrees, id), Temp: filepath.Join(l.Temp, Short(id)),
	}
}

// Copy is where a command is run again under a name that is its own.
func (l Layout) Copy(name string) evidence.Roots {
	tree := filepath.Join(l.Trees, copies, name)
	return evidence.Roots{Tree: tree, Home: tree + "-home", Temp: filepath.Join(l.Temp, name)}
}

// Short is a short name for a longer one.
func Short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

// RecordLayout records where the run's folders lie, unless the attempt before lay there too.
func (d *Dir) RecordLayout(l Layout) error {
	all := Layouts(d.Journal)
	if len(all) > 0 && all[len(all)-1] == l {
		return nil
	}
	return d.Journal.AppendSoon(kindLayout, strconv.Itoa(len(all)+1), l)
}

// Layouts are those of the attempts at a run, oldest first.
func Layouts(j *journal.Journal) []Layout {
	var out []Layout
	for _, e := range j.Entries(kindLayout) {
		var l Layout
		if json.Unmarshal(e.Data, &l) == nil {
			out = append(out, l)
		}
	}
	return out
}

// RecordWorkspace records where the commands of an agent work, unless that is known.
func RecordWorkspace(j *journal.Journal, id string, roots evidence.Roots) error {
	all := workspaces(j, id)
	if len(all) > 0 && all[len(all)-1] == roots {
		return nil
	}
	return j.AppendSoon(kindWorkspace, id, roots)
}

func workspaces(j *journal.Journal, id string) []evidence.Roots {
	var out []evidence.Roots
	for _, e := range j.Entries(kindWorkspace) {
		var roots evidence.Roots
		if e.Key == id && json.Unmarshal(e.Data, &roots) == nil {
			out = append(out, roots)
		}
	}
	return out
}

// Bases are the folders by which the commands of an agent could name the base.
func Bases(j *journal.Journal, id string) []string {
	var out []string
	for _, roots := range workspaces(j, id) {
		out = append(out, roots.Base)
	}
	return out
}

// TreesOf are the paths by which the commands of an agent could name its tree.
func TreesOf(j *journal.Journal, id string) []string {
	var out []string
	for _, roots := range workspaces(j, id) {
		out = append(out, roots.Tree)
	}
	return out
}

// RootsOf are the folders that the command of a record may name: those that the
// record has, or else those of the agent that ran it.
func RootsOf(j *journal.Journal, r evidence.Record) evidence.Roots {
	if r.Roots != nil {
		return *r.Roots
	}
	if all := Layouts(j); len(all) > 0 {
		return all[0].Agent(r.Task)
	}
	return evidence.Roots{}
}

// CopyRoots are the folders that the command of a record may name which was run again
// in the copy with this name.
func CopyRoots(j *journal.Journal, r evidence.Record, name string) evidence.Roots {
	if r.Roots != nil {
		return *r.Roots
	}
	if all := Layouts(j); len(all) > 0 {
		return all[0].Copy(name)
	}
	return evidence.Roots{}
}

// Relocate puts the folders of l in the place of those that the attempts at a
// recorded run had.
func (l Layout) Relocate(recorded []Layout) *strings.Replacer {
	var pairs []string
	for _, was := range recorded {
		pairs = append(pairs, was.Trees, l.Trees, was.Temp, l.Temp)
	}
	return strings.NewReplacer(pairs...)
}
