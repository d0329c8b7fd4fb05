package gate

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/folder"
)

// everyTime are the scenarios that make test runs; make variants runs the others. These are the quickest that
// together run nine tenths of the gate's lines that all of them run, and one of each class of attack.
var everyTime = []string{
	"commands_build", "data_inlined_make", "declares_names_sh_untrusted", "docs_only", "first_module",
	"forged_program_untrusted", "forged_python_untrusted", "good", "helper_renamed_python_untrusted",
	"helpers_renamed_python_untrusted", "hidden_python", "home_make", "into_folder_node", "jest_arguments",
	"just_for_make", "kept_make_honest", "kept_make_recipe", "kept_make_want_moved_untrusted",
	"kept_script_make_untrusted", "lines_python", "lines_time", "loader_honest_node_untrusted",
	"lost_node_untrusted", "made_data_node", "makers_node_untrusted", "module_answers_untrusted",
	"name_removed_python_untrusted", "named_test_python", "names_moved_required_node", "newer_cmake",
	"newer_rust", "no_network", "node_behaviour_unloaded", "nothing", "nothing_done_make",
	"own_runtests_honest_python", "planted_configured", "renamed_modules_gradle", "rest_docs",
	"restructured_make", "rewritten_python", "runner_refuses", "runtime_gradle", "script_exits_node_untrusted",
	"service_of_change_python", "setup_blamed", "setup_both", "setup_network", "setup_offline", "setup_strange",
	"spec_numbers_ruby", "src_layout_program_python", "stands_before_python_untrusted",
	"taken_first_node_untrusted", "takes_place_plugin_python_untrusted", "target_gone_bug_make",
	"tasks_edited_python", "tests_beside_folder_fails_python", "time_limit", "unittest_new_unparsed_python",
	"unprepared_touched_site", "vanish_make",
}

// leavesScenario says whether make test leaves a scenario out.
func leavesScenario(name string) bool { return !slices.Contains(everyTime, name) }

// TestScenariosOfEveryTime holds that each of them is there.
func TestScenariosOfEveryTime(t *testing.T) {
	t.Parallel()
	for _, name := range everyTime {
		if !folder.Exists(filepath.Join("testdata", "scenarios", name+".txtar")) {
			t.Errorf("there is no scenario %s", name)
		}
	}
}
