package gate

import (
	"path/filepath"
	"testing"
)

// A leftOut is a set of scenarios that make test leaves to make variants, and why.
type leftOut struct {
	why string
	// by names for each the one that runs in its place and shows the same kind of change.
	by map[string]string
}

// leftScenarios are the scenarios that make test has no time for. Each class of changes keeps
// one that runs everywhere: of twins by author and language, a trusted one in one language and
// one from outside in another.
var leftScenarios = []leftOut{
	{"the same change, by the other sort of author", map[string]string{
		"cannot_apply_untrusted":             "cannot_apply_node_untrusted",
		"exit_code_node_untrusted":           "exit_code_python_untrusted",
		"forged_node_untrusted":              "forged_python_untrusted",
		"hidden_python_untrusted":            "hidden_node_untrusted",
		"home_node_untrusted":                "home_make_untrusted",
		"home_python_untrusted":              "home_make_untrusted",
		"kept_classes":                       "kept_classes_strict",
		"kept_classes_untrusted":             "kept_classes_strict",
		"kept_node_script_untrusted":         "kept_make_recipe_untrusted",
		"kept_runner_replaced":               "kept_runner_replaced_untrusted",
		"mark_node_untrusted":                "mark_python_untrusted",
		"pytest_options":                     "pytest_options_untrusted",
		"restart_steering_bug":               "restart_steering_bug_untrusted",
		"restart_steering_untrusted":         "restart_steering_bug_untrusted",
		"script_shell_node_untrusted":        "script_shell_node",
		"too_much_make_untrusted":            "too_much_make",
		"vanish_link_untrusted":              "vanish_link_node_untrusted",
		"vanish_renamed_python_untrusted":    "vanish_renamed_node_untrusted",
		"vanish_no_package_python_untrusted": "vanish_no_package_python",
	}},
	{"the same change, in another language or by another runner", map[string]string{
		"cannot_apply":          "cannot_apply_node",
		"hidden_node":           "hidden_python",
		"home_node":             "home_python",
		"kept_node_helpers":     "kept_helpers",
		"kept_old_failure":      "old_failure_python",
		"kept_snapshot":         "kept_make_golden",
		"lines_base":            "lines_base_node",
		"lines_none":            "lines_none_node",
		"lines_other_system":    "lines_none_node",
		"lines_own":             "lines_own_node",
		"random_names":          "names_made_up",
		"retried_vitest":        "retried_mocha", // half a minute of starting vitest
		"too_much_go":           "too_much_make",
		"too_much_go_untrusted": "too_much_make",
		// Of results in files, TestAsCommand has each case without a run.
		"too_much_node":             "too_much_make",
		"too_much_node_untrusted":   "too_much_make",
		"too_much_python":           "too_much_make",
		"too_much_python_untrusted": "too_much_make",
		"vanish_link_node":          "vanish_link",
		"vanish_renamed_node":       "vanish_renamed_python",
	}},
	{"another course of what is shown already, with as many runs again of its tests", map[string]string{
		"base_refused":         "base_broken",
		"build_tests_alone":    "build_tests",
		"crash":                "panic",
		"exit_code_swallowed":  "exit_code_forged",
		"exit_early":           "exit_inside",
		"flaky_base_often":     "flaky_base",
		"flaky_change":         "retried_mocha",
		"flaky_later":          "kept_flakiness",
		"flaky_load":           "flaky",
		"go_command":           "workspace_commands",
		"kept_flaky":           "flaky",
		"kept_ignored":         "vanish_link",
		"kept_moved":           "kept_moved_untrusted",
		"kept_node_lockfile":   "manager_missing_uv",
		"kept_pytest_plugin":   "kept_pytest_support",
		"kept_windows":         "kept_tagged",
		"merge_clean":          "merge_failing",
		"needs_api_only":       "needs_api",
		"needs_deps":           "needs_api",
		"new_failing":          "flaky_new",
		"order":                "alone",
		"panic_base":           "panic",
		"race_new_test":        "race_old",
		"replaced":             "nested",
		"rest_projects":        "rest_packages",
		"settled":              "regressed",
		"two_commands":         "commands_both",
		"underscore_test_data": "testdata_only",
		"unskipped":            "removed_skipped",
		"vanishes_again":       "selected_away",
		"vendored":             "vendored_old",
	}},
}

// leavesScenario says whether make test leaves a scenario out.
func leavesScenario(name string) bool {
	for _, l := range leftScenarios {
		if l.by[name] != "" {
			return true
		}
	}
	return false
}

// TestLeftScenarios holds that each scenario that is left out is there, and that another one
// stands for it which is not.
func TestLeftScenarios(t *testing.T) {
	t.Parallel()
	for _, l := range leftScenarios {
		for name, by := range l.by {
			for _, file := range []string{name, by} {
				if !exists(filepath.Join("testdata", "scenarios", file+".txtar")) {
					t.Errorf("%s: there is no scenario %s", l.why, file)
				}
			}
			if leavesScenario(by) {
				t.Errorf("%s: %s stands for %s and is left out as well", l.why, by, name)
			}
		}
	}
}
