package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/workspace"
)

// announced are notes on files of a change that decide how it, or later changes, are
// looked at: a reader must know of them although they change no verdict. own is whether
// the configuration comes from elsewhere.
func announced(paths []string, own bool) []string {
	var out []string
	const none = ", which has no effect on its own verification: the base's is used"
	if slices.Contains(paths, configFile) && !own {
		out = append(out, "the change alters "+configFile+none)
	}
	for _, name := range orchestrator.ProjectRules {
		if slices.Contains(paths, name) {
			out = append(out, "the change alters "+name+none)
		}
	}
	for _, dir := range orchestrator.FoldersChanged(paths) {
		out = append(out, "the change alters agents in "+dir+", which has no effect on its own verification: the base's are used")
	}
	for _, group := range []struct {
		match func(string) bool
		says  string
	}{
		{isWorkflow, "%s: under pull_request GitHub runs workflows as the change has them, so that a job which reports on it, ycbot's too, may be the change's own"},
		{isGuidance, "%s: agents are not given these instructions before they are merged"},
		{isOwners, "%s: this decides who has to approve changes"},
	} {
		var hits []string
		for _, p := range paths {
			if group.match(p) {
				hits = append(hits, p)
			}
		}
		if len(hits) > 0 {
			out = append(out, fmt.Sprintf("the change alters "+group.says, named(hits)))
		}
	}
	return out
}

// brokenConfig notes that no run would begin once the change is merged.
func brokenConfig(ctx context.Context, m *workspace.Mirror, head string) ([]string, error) {
	data, err := m.ReadFile(ctx, head, configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := config.Parse(configFile, data); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		if linked(ctx, m, head) {
			first = config.IsLink
		}
		return []string{"the change's configuration is wrong, and once it is merged nothing is run until it is fixed: " + report.Line(first, 300)}, nil
	}
	return nil, nil
}

// named are a few names in one text.
func named(names []string) string {
	const most = 5
	if left := len(names) - most; left > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), left)
	}
	return strings.Join(names, ", ")
}

func isWorkflow(p string) bool {
	return strings.HasPrefix(p, ".github/workflows/") || strings.HasPrefix(p, ".github/actions/") || p == ".github/dependabot.yml" ||
		slices.Contains([]string{"action.yml", "action.yaml"}, path.Base(p))
}

// isGuidance says whether p is a file that tools for agents read by themselves.
func isGuidance(p string) bool {
	return slices.Contains([]string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", "copilot-instructions.md"}, path.Base(p)) ||
		strings.HasPrefix(p, ".cursor/rules/") || strings.HasPrefix(p, ".github/instructions/")
}

func isOwners(p string) bool {
	return slices.Contains([]string{"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS"}, p)
}
