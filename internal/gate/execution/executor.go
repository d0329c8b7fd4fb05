package execution

import (
	"slices"
	"sync"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Job is what an Executor works on.
type Job struct {
	Base, Head *workspace.Tree
	Plans      map[results.Side]*sides.Plan     // what is run on each side; its owner may change it
	Env        []string                         // "NAME=value", for every command
	As         map[results.Side]results.Side    // what the sides are called in the log; nil: by their names
	Copies     string                           // what the names of its prepared snapshots begin with
	Beside     Beside                           // what is started with each command that runs tests
	Rest       bool                             // it is at what the change cannot affect
	Note       func(format string, args ...any) // says something to people once
	// Restored hears of each command that changed tracked files, which were put back; may be nil.
	Restored func(side results.Side, command string, files []string)
}

// An Executor runs the commands of one run of the gate, in the trees of both its sides.
type Executor struct {
	Machine
	Job
	Steps ecosystem.Steps // that have ended

	prepared    map[results.Side]*Snapshot
	rewrote     map[results.Side]map[string]ecosystem.Command
	made        map[string]bool           // files that setup and build of the base write, by path
	again       map[string]bool           // files that the change adds, and whether its setup and build made them
	left        map[string]bool           // files that tests of the base write that count as one
	remade      map[results.Side][]string // tracked files that setup and build have made otherwise
	fetches     map[string]bool           // evidence of commands that fetched
	baseTouched string

	copying sync.Mutex                 // guards copied
	copied  map[string]*folder.Replica // the caches of single commands, by their folders
}

// New is an Executor that has run nothing.
func New(m Machine, j Job) *Executor {
	return &Executor{
		Machine: m, Job: j,
		prepared: map[results.Side]*Snapshot{},
		rewrote:  map[results.Side]map[string]ecosystem.Command{},
		made:     map[string]bool{},
		again:    map[string]bool{},
		left:     map[string]bool{},
		remade:   map[results.Side][]string{},
		fetches:  map[string]bool{},
		copied:   map[string]*folder.Replica{},
	}
}

// Tree is the tree in which the commands of a side run.
func (e *Executor) Tree(side results.Side) *workspace.Tree {
	if side == results.Base {
		return e.Base
	}
	return e.Head
}

// Named is what the log calls a side.
func (e *Executor) Named(side results.Side) results.Side {
	if n, ok := e.As[side]; ok {
		return n
	}
	return side
}

// Show gives a step to who watches the run.
func (e *Executor) Show(p Progress) {
	if e.Progress != nil {
		p.Side, p.Rest = e.Named(p.Side), e.Rest
		e.Progress(p)
	}
}

// Fetched says whether a step fetched packages and built nothing.
func (e *Executor) Fetched(s ecosystem.Step) bool { return e.fetches[s.Evidence] }

// BaseTouched is the first command of the head that reached the base's files; empty: none.
func (e *Executor) BaseTouched() string { return e.baseTouched }

// Rewrote are the tracked files that commands of setup, build and tests changed on a side, with
// the command.
func (e *Executor) Rewrote(side results.Side) map[string]ecosystem.Command { return e.rewrote[side] }

// rewrites keeps which tracked files a command of setup, build or tests changed.
func (e *Executor) rewrites(side results.Side, c ecosystem.Command, files []string) {
	if !slices.Contains([]results.Stage{results.StageSetup, results.StageBuild, results.StageTest}, c.Stage) {
		return
	}
	if e.rewrote[side] == nil {
		e.rewrote[side] = map[string]ecosystem.Command{}
	}
	for _, f := range files {
		e.rewrote[side][f] = c
	}
}
