package tool

import (
	"maps"
	"slices"
	"sync"
)

// known is every tool name that means something, whether it exists or not: those of
// [Declared], and these. Tools that change the project are among them so that a call of
// one gets another answer than a call of nothing.
var known = sync.OnceValue(func() map[string]Class {
	out := map[string]Class{
		"Agent": Delegate, "subagents_run": Delegate, "get_subagent_result": Delegate,

		"write_file": Write, "edit_file": Write, "apply_diff": Write, "mkdir": Write, "copy_file": Write, "move_file": Write, "delete_file": Write,
		"git_commit": GitWrite, "git_checkpoint": GitWrite, "rollback": GitWrite, "git_stage_files": GitWrite, "git_unstage_files": GitWrite,
		"git":            GitWrite, // the free form, which can write
		"enter_worktree": GitWrite, "exit_worktree": GitWrite,
		"pr_add_comment": Publish,
	}
	for _, t := range Declared() {
		out[t.Name] = t.Class
	}
	return out
})

// aliases are other systems' spellings.
func aliases() map[string]string {
	return map[string]string{
		"read": "read_file", "Read": "read_file", "read_workspace_file": "read_file",
		"Grep": "grep", "workspace_search": "grep",
		"Glob": "glob",
		"LS":   "list_dir", "ls": "list_dir", "list_workspace_files": "list_dir",
		"bash": "run_bash", "Bash": "run_bash", "shell_exec": "run_bash",
		"web_fetch": "fetch_url", "WebFetch": "fetch_url",
		"TodoWrite": "todo_write",
		"Task":      "Agent", "task": "Agent", "spawn_agent": "Agent",
		"subagents.run": "subagents_run",
		"write":         "write_file", "Write": "write_file",
		"edit": "edit_file", "Edit": "edit_file", "MultiEdit": "edit_file", "NotebookEdit": "edit_file",
		"apply_patch": "apply_diff",
	}
}

// Canonical returns ycbot's name for a tool name of any of the systems whose
// agent files it reads. A name that it does not know comes back as it is.
func Canonical(name string) string {
	if c, ok := aliases()[name]; ok {
		return c
	}
	return name
}

// ClassOf returns the class of a tool name, in any spelling; false for a name
// that means nothing.
func ClassOf(name string) (Class, bool) {
	c, ok := known()[Canonical(name)]
	return c, ok
}

// Resolve returns ycbot's name for a tool and whether it means anything.
func Resolve(name string) (canonical string, ok bool) {
	canonical = Canonical(name)
	_, ok = known()[canonical]
	return canonical, ok
}

// Names returns every name that means something, aliases included, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(merged()))
}

func merged() map[string]bool {
	out := map[string]bool{}
	for n := range known() {
		out[n] = true
	}
	for n := range aliases() {
		out[n] = true
	}
	return out
}
