package agents

import "slices"

// Group returns the tools of a group, as BLXCode names them, and whether there is one of that
// name. Groups that change something, or that are about what a verification does not have,
// hold none here.
func Group(name string) (tools []string, known bool) {
	switch name {
	case "environment_read":
		return []string{"list_project_structure"}, true
	case "workspace_read":
		return []string{"read_file", "read_many_files", "list_dir", "list_project_structure", "glob", "grep"}, true
	case "diff_read":
		return []string{"list_git_changed_files", "git_diff_files", "git_show_file_at_rev", "git_merge_base"}, true
	case "git_read":
		return []string{"git_branch_status", "git_log_file", "git_blame_lines", "git_show_file_at_rev", "git_merge_base", "list_git_changed_files", "git_diff_files"}, true
	case "web_read":
		return []string{"fetch_url"}, true
	case "subagent_submit":
		return []string{"submit_result"}, true
	case "git_write", "shell_read", "shell_write", "subagents_run", "coordinator_harness",
		"memory_read", "memory_write", "plans_read", "plans_write", "tasks_read", "tasks_write", "rules_skills_read", "rules_skills_write":
		return nil, true
	}
	return nil, false
}

// everyTool are all tools that an agent can be given, for patterns of names.
func everyTool() []string {
	out := []string{"todo_write", "pr_read", "pr_review_context"}
	for _, name := range []string{"workspace_read", "diff_read", "git_read", "web_read", "subagent_submit"} {
		tools, _ := Group(name)
		out = add(out, tools...)
	}
	return add(out, executing()...)
}

// roleGroups returns the groups of a role that names none itself.
func roleGroups(role string) []string {
	switch role {
	case "scout":
		return []string{"environment_read", "workspace_read", "git_read"}
	case "review":
		return []string{"environment_read", "workspace_read", "diff_read"}
	case "security_analyst":
		return []string{"environment_read", "workspace_read", "diff_read", "git_read"}
	}
	return nil
}

// add appends what is not in a list yet.
func add(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
