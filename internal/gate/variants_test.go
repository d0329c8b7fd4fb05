package gate

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/folder"
)

// shownBy are scenarios that make test leaves to make variants: for each scenario that it
// runs, those that show the same promise once more, by the other sort of author, in another
// language or by another runner, or with another course of what led there. Of twins by
// author and language a trusted one in one language stays and one from outside in another;
// among others the quickest.
var shownBy = map[string][]string{
	"alone":                              {"order"},
	"base_broken":                        {"base_refused"},
	"beside_node_untrusted":              {"beside_mocha_untrusted", "beside_python", "beside_python_untrusted", "beside_ruby"},
	"behaviour":                          {"behaviour_breaks", "behaviour_expected_node", "behaviour_same", "node_behaviour", "node_behaviour_breaks", "node_behaviour_signatures"},
	"build_head":                         {"build_both", "build_tests", "build_tests_alone"},
	"cannot_apply_node":                  {"cannot_apply", "cannot_apply_node_untrusted", "cannot_apply_untrusted"},
	"chdir_untrusted":                    {"takes_place_elixir_untrusted"},
	"commands":                           {"commands_both", "commands_random", "commands_regress", "two_commands"},
	"disarmed_node_untrusted":            {"disarmed_make_untrusted", "disarmed_python_untrusted"},
	"disarmed_python":                    {"disarmed_make", "disarmed_node"},
	"doc_file_suite_python":              {"doc_file_suite_weakened_python"},
	"docs_only":                          {"comments_only"},
	"exit_code_python":                   {"exit_code_node"},
	"exit_code_python_untrusted":         {"exit_code_node_untrusted"},
	"exit_inside":                        {"exit_code_forged", "exit_code_swallowed", "exit_early"},
	"flaky":                              {"flaky_base", "flaky_base_often", "flaky_edited", "flaky_later", "flaky_load", "kept_flakiness", "kept_flaky"},
	"flaky_new":                          {"new_failing"},
	"forged_python":                      {"forged_node"},
	"forged_python_untrusted":            {"forged_node_untrusted"},
	"hidden_node_untrusted":              {"hidden_python_untrusted"},
	"hidden_python":                      {"hidden_node"},
	"home_make":                          {"home_node", "home_plugin_python_untrusted", "home_python", "home_settings"},
	"home_make_untrusted":                {"home_node_untrusted", "home_python_untrusted"},
	"kept_dev_crate_rust":                {"kept_data_beside_rust"},
	"kept_script_make_untrusted":         {"kept_header_make", "runner_cargo_untrusted", "stops_no_more_make_untrusted"},
	"stands_before_python_untrusted":     {"stands_before_make", "stands_before_node"},
	"presets_cmake_untrusted":            {"deferred_cmake", "unwatched_cmake_untrusted"},
	"kept_checks_go_untrusted":           {"godebug_go"},
	"makings_embed_go":                   {"makings_fail_go", "makings_tests_go", "makings_workflow_go"},
	"makings_new_go_untrusted":           {"makings_new_go"},
	"makers_node_untrusted":              {"makers_cmake"},
	"unreached_python_untrusted":         {"swallowed_python_untrusted", "unreached_both_python", "unreached_node"},
	"awaited_python":                     {"awaited_go_untrusted"},
	"lost_node_untrusted":                {"lost_moved_go_untrusted"},
	"made_want_go_untrusted":             {"made_want_go"},
	"target_gone_make":                   {"makefile_gone_make", "target_gone_node"},
	"called_by_folder_python_untrusted":  {"called_by_module_go_untrusted"},
	"module_below_go_untrusted":          {"module_below_check_go_untrusted"},
	"moved_subject_python_untrusted":     {"moved_subject_file_python_untrusted"},
	"module_to_crate_rust":               {"sources_moved_crate_rust_untrusted"},
	"into_folder_node":                   {"into_folder_go", "project_moved"},
	"kept_deleted_node":                  {"kept_deleted_go"},
	"kept_helper_moved_python_untrusted": {"kept_helper_moved_go_untrusted"},
	"kept_honest":                        {"kept_classes", "kept_classes_strict", "kept_classes_untrusted", "kept_helpers", "kept_interface_untrusted", "kept_node_helpers"},
	"kept_make_golden":                   {"kept_snapshot"},
	"kept_make_want_untrusted":           {"kept_make_want_whole"},
	"moved_tests_bug_cmake_untrusted":    {"moved_tests_cmake_untrusted"},
	"kept_make_list":                     {"kept_make_gnu", "kept_make_parts"},
	"kept_make_recipe":                   {"kept_make_hidden"},
	"kept_make_recipe_untrusted":         {"kept_make_hidden_untrusted", "kept_node_script_untrusted"},
	"kept_moved_untrusted":               {"kept_moved"},
	"kept_node_script":                   {"kept_runner_replaced", "kept_runner_replaced_untrusted"},
	"kept_pytest_support":                {"kept_pytest_honest", "kept_pytest_plugin", "kept_pytest_steering"},
	"kept_python_weakened":               {"kept_node_weakened"},
	"kept_tagged":                        {"kept_windows"},
	"lacks_all":                          {"lacks_build", "lacks_head", "lacks_lookalike"},
	"lines_base_node":                    {"lines_base"},
	"lines_none_node":                    {"lines_none", "lines_other_system"},
	"lines_own_node":                     {"lines_own", "lines_own_untrusted"},
	"made_tracked_node_untrusted":        {"generated_tracked", "made_tracked_node"},
	"manager_missing_make":               {"kept_node_lockfile", "manager_missing_python", "manager_missing_uv"},
	"manager_missing_make_untrusted":     {"manager_missing_python_untrusted", "manager_missing_uv_untrusted"},
	"mark_make":                          {"mark_node", "mark_python"},
	"mark_python_untrusted":              {"mark_make_untrusted", "mark_node_untrusted"},
	"marks":                              {"mark_in_cache"},
	"members_ctest_untrusted":            {"members_rust_untrusted"},
	"merge_broken":                       {"merge_clean", "merge_conflict", "merge_failing"},
	"mutants":                            {"mutants_programs"},
	"mutants_python":                     {"mutants_bytecode", "mutants_stale"},
	"nothing_done_make":                  {"nothing_done_both_make"},
	"name_removed_builtin_python":        {"name_removed_global_node"},
	"name_removed_python_untrusted":      {"name_removed_node_untrusted"},
	"module_answers_untrusted":           {"header_answers_untrusted"},
	"names_made_up":                      {"random_names"},
	"needs_api_node":                     {"needs_api", "needs_api_only", "needs_deps"},
	"new_alike_old":                      {"new_alike_assertion", "new_alike_old_beside", "new_alike_old_go"},
	"no_network":                         {"no_network_retries"},
	"old_failure_python":                 {"kept_old_failure", "old_failure_python_untrusted"},
	"own_makes_new_python_untrusted":     {"own_made_python", "own_makes_edited_python", "own_runs_less_python"},
	"own_script_node_untrusted":          {"own_generate_go", "own_make_go_untrusted", "own_packages_go"},
	"panic":                              {"crash", "panic_base"},
	"phantom":                            {"phantom_beside", "phantom_new"},
	"planted_tape":                       {"planted"},
	"product_data_node_untrusted":        {"product_scripts_node_untrusted"},
	"product_module_python_untrusted":    {"product_env_rust_untrusted", "product_named_test_c_untrusted", "product_rules_make_untrusted"},
	"programs":                           {"programs_breaks", "programs_node", "programs_python", "programs_same"},
	"programs_served":                    {"programs_served_breaks", "programs_served_node", "programs_served_otherwise"},
	"pytest_options_untrusted":           {"pytest_options"},
	"python_behaviour":                   {"python_behaviour_breaks", "python_behaviour_retyped", "python_behaviour_signatures"},
	"race_old":                           {"race", "race_new_test"},
	"regressed":                          {"settled"},
	"shared_examples_ruby":               {"shared_methods_ruby"},
	"removed_skipped":                    {"selected_away", "unskipped", "vanishes_again"},
	"required_missing":                   {"required_weak"},
	"rows_dropped_python":                {"rows_dropped_go", "rows_dropped_node", "rows_dropped_settings_python", "rows_dropped_scripts_node"},
	"data_by_helper_untrusted":           {"data_by_helper_go_untrusted"},
	"hang":                               {"hang_fixed_python", "hang_kept_python"},
	"rest_late":                          {"rest_packages", "rest_projects", "rest_skipped_node"},
	"restart_steering":                   {"restart_steering_bug"},
	"restart_steering_bug_untrusted":     {"restart_steering_untrusted"},
	"retried_new":                        {"flaky_change", "retried_mocha", "retried_vitest"},
	"runner_refuses":                     {"runner_refuses_both", "runner_refuses_head"},
	"script_shell_node":                  {"script_shell_node_untrusted"},
	"test_settings_python_untrusted":     {"test_settings_elixir_untrusted"},
	"tests_elsewhere_make":               {"tests_elsewhere_cmake"},
	"tests_elsewhere_node":               {"tests_elsewhere_python"},
	"tests_only":                         {"testdata_only", "underscore_test_data"},
	"third_party_untrusted":              {"helper_class_php", "vendored_anew_untrusted"},
	"too_much_make":                      {"too_much_go", "too_much_go_untrusted", "too_much_make_untrusted", "too_much_node", "too_much_node_untrusted", "too_much_python", "too_much_python_untrusted"},
	"tree_first_python":                  {"tree_first", "tree_first_python_untrusted"},
	"twins_node":                         {"twins_mocha", "twins_ruby"},
	"uncompiled_cmake_untrusted":         {"uncompiled_cmake"},
	"unloaded_node":                      {"unloaded", "unloaded_python"},
	"vacuous_python":                     {"vacuous", "vacuous_api", "vacuous_node"},
	"vanish_ignored_alone":               {"vanish_tests_alone"},
	"vanish_link_node_untrusted":         {"kept_ignored", "vanish_link", "vanish_link_node", "vanish_link_untrusted"},
	"vanish_make":                        {"vanish_make_untrusted"},
	"vanish_no_package_python":           {"vanish_no_package_python_untrusted"},
	"vanish_renamed_node_untrusted":      {"vanish_renamed_python_untrusted"},
	"vanish_renamed_python":              {"vanish_renamed_node"},
	"sources_moved_node_untrusted":       {"names_moved_mocked_python_untrusted", "names_moved_node_untrusted", "names_moved_python", "sources_moved_go", "sources_moved_imports_node_untrusted", "sources_moved_make", "sources_moved_package_python", "sources_moved_python"},
	"sources_moved_bug_python_untrusted": {"names_moved_mocked_bug_python_untrusted", "sources_moved_crate_bug_rust_untrusted", "names_moved_bug_node_untrusted", "names_moved_bug_python_untrusted", "sources_moved_bug_go_untrusted", "sources_moved_bug_node_untrusted", "sources_moved_bug_rust_untrusted"},
	"vendored_old":                       {"vendored"},
	"weakened_make":                      {"weakened_make_untrusted"},
	"workspace":                          {"go_command", "nested", "replaced", "workspace_commands"},
	"workflow_renamed_python":            {"workflow_renamed_python_untrusted"},
	"workflow_variable_go_untrusted":     {"workflow_variable_fails_node", "workflow_variable_new_python", "workflow_variable_python"},
	"own_differs_go_untrusted":           {"own_differs_ruby", "own_factor_python"},
	"own_makes_new_file_python":          {"own_builds_go"},
	"own_target_renamed_go":              {"own_target_lacks_go"},
	"own_value_go_untrusted":             {"own_script_python"},
	"own_script_edited_go_untrusted":     {"own_script_edited_go"},
	"workflow_script_node_untrusted":     {"workflow_options_python"},
	"workspace_member_node_untrusted":    {"workspace_new_member_node"},
	"skipped_class_python":               {"skipped_helper_go"},
	"service_of_change_python":           {"service_of_change_bug_go", "service_of_change_go"},
	"helpers_renamed_python_untrusted":   {"base_class_php_untrusted"},
	"helper_gone_python_untrusted":       {"helper_gone_tested_python_untrusted"},
	"namesake_fails_python":              {"old_failure_replaced_python"},
	"old_failure_moved_node":             {"old_failure_renamed_python"},
	"tree_of_tests_seen_python":          {"tree_of_tests_doubt_python_untrusted"},
	"product_imported_python":            {"product_added_node_untrusted", "product_test_file_node"},
	"private_ruby":                       {"focus_rspec", "moved_namespace_php", "private_php"},
	"stops_rspec":                        {"stops_elixir"},
	"declares_names_sh_untrusted":        {"declares_names_php_untrusted"},
}

// longScenarios are what make test leaves to make variants because each takes seconds of a
// processor: rounds of tests that disagree, races, fuzzing, compilers and package managers.
var longScenarios = []string{
	"alone", "base_broken", "behaviour", "behaviour_gone", "behaviour_gone_alone", "behaviour_gone_many",
	"behaviour_reshaped", "behaviour_setup", "beside_files_python", "beside_node_untrusted",
	"beside_python_stumbles", "build_apart_rust", "build_head", "build_rewrites_tests",
	"called_by_folder_bug_python_untrusted", "called_by_folder_data_python_untrusted",
	"called_by_folder_moved_python_untrusted", "called_by_folder_some_python_untrusted",
	"cannot_apply_node", "chdir_untrusted", "ci_gitlab_go_untrusted", "ci_gitlab_honest_go",
	"comments_and_tests", "compiled_elsewhere_untrusted", "config_log_elixir_untrusted", "conftest_new",
	"data_above_conftest_python_untrusted", "data_by_helper_untrusted", "data_by_pattern_untrusted",
	"data_elsewhere_python", "declared_data_cmake_untrusted", "described_automake_untrusted",
	"described_cmake_untrusted", "described_honest_cmake_untrusted", "displaced_python",
	"doc_file_suite_python", "document_tests_untrusted", "environment_gone_exit_python",
	"environment_gone_python", "environment_gone_python_untrusted", "environment_new_python",
	"example_gone_python", "example_renamed_elixir", "examples_gone_python_untrusted",
	"exit_code_python_untrusted", "exit_inside", "fake_events", "features_rust_untrusted", "fetched_cmake",
	"first_leaves_rest", "fixtures_foreign_untrusted", "fixtures_shipped_untrusted",
	"flags_honest_cmake_untrusted", "flaky", "flaky_edited_untrusted", "flaky_known", "flaky_new", "fuzz",
	"fuzz_stricter", "generated", "go_cgo", "go_setup_beside", "go_setup_there", "go_setup_workspace",
	"go_uses_git", "golden_each_python", "hang", "helper_gone_python_untrusted", "helpers_listed_node",
	"helpers_repair_python_untrusted", "hidden_node_untrusted", "hidden_without_file_cmake",
	"home_make_untrusted", "invalid_module_elixir", "kept_added_cmake", "kept_added_cmake_untrusted",
	"kept_case_renamed", "kept_checks_go_untrusted", "kept_conftest_imports", "kept_deleted_node",
	"kept_dev_crate_rust", "kept_golden_gone_python_untrusted", "kept_helper_moved_python_untrusted",
	"kept_honest", "kept_kit_node_untrusted", "kept_list_longer_node_untrusted", "kept_list_node_untrusted",
	"kept_methods_gone_python_untrusted", "kept_moved_untrusted", "kept_node_honest", "kept_node_script",
	"kept_package_switch", "kept_path_rust_untrusted", "kept_pytest_support", "kept_python_weakened",
	"kept_rake", "kept_removed_beside", "kept_removed_cover", "kept_run_node_untrusted", "kept_skips",
	"kept_steps_node", "kept_table_python_untrusted", "kept_tagged", "lacks_runner",
	"launched_automake_untrusted", "launched_cmake_untrusted", "lenient_mocha_untrusted",
	"lenient_vitest_untrusted", "lines_base_node", "lines_jest", "lines_none_node", "lines_own_node",
	"lines_pytest", "lines_unnamed_node", "lines_vitest", "link_taken_over", "lint",
	"loader_types_untrusted", "lost_honest_python_untrusted", "made_tracked_node_untrusted",
	"made_want_go_untrusted", "make_only_bug_go_untrusted", "make_target_hint", "makers_other_go",
	"makings_embed_go", "makings_new_go_untrusted", "makings_regressed_go_untrusted", "marks",
	"member_first_breaks_rust", "member_joins_rust", "member_named_untrusted", "members_ctest_untrusted",
	"mends_build", "merge_broken", "mocha_behaviour_setup", "mocha_old", "module_below_go_untrusted",
	"module_renamed", "module_renamed_untrusted", "module_to_crate_rust", "mostly_failing", "moved_in_node",
	"moved_old_tests_node", "moved_subject_in_file_python_untrusted", "moved_subject_python_untrusted",
	"moved_tests_bug_cmake_untrusted", "moved_tests_project_python", "mutants", "mutants_bound",
	"mutants_python", "mutants_untested", "name_removed_builtin_python", "named_cases_node",
	"named_test_node_untrusted", "nameless_rspec", "names_made_up", "names_made_up_rows",
	"names_made_up_subtests", "names_shift", "namesake_fails_python", "needs_api_node",
	"nested_package_classes_python", "nested_package_settings_python", "new_alike_old",
	"new_api_modules_gradle", "new_crate_uncompiled_rust", "new_package_fails_node",
	"new_unloaded_alike_python", "newer_cmake_excused", "newer_node", "node_behaviour_same",
	"node_behaviour_setup", "node_built", "node_no_tests", "node_silent", "old_failure_moved_node",
	"old_failure_python", "order_aside_python", "own_differs_go_untrusted", "own_harness_rust",
	"own_made_brought_python", "own_makes_new_file_python", "own_makes_new_python_untrusted",
	"own_runs_more_node_untrusted", "own_script_edited_go_untrusted", "own_script_node_untrusted",
	"own_target_renamed_go", "own_value_go_untrusted", "own_workflow_node", "package_in_fixtures_node",
	"package_renamed_go_untrusted", "panic", "permission", "phantom", "planted_chosen", "planted_cmake",
	"planted_tape", "preexisting", "prerequisite_file_python", "presets_cmake_untrusted",
	"product_data_configured_python_untrusted", "product_data_node_untrusted", "product_imported_python",
	"product_module_python_untrusted", "profile_honest_rust_untrusted", "profile_rust_untrusted",
	"programs", "programs_probe", "programs_served", "pytest_options_untrusted", "python_behaviour",
	"python_behaviour_same", "python_behaviour_setup", "python_behaviour_unloaded", "race_old",
	"reads_outside_go", "regressed", "removed_skipped", "renamed_class_gradle", "renamed_gtest_cmake",
	"renamed_without_file_cmake", "required_missing", "rest_late", "restart_steering",
	"restart_steering_bug_untrusted", "restructured_bug_make", "retried_new",
	"rewritten_awaits_node_untrusted", "rewritten_beside_retry_node_untrusted", "rewritten_go_untrusted",
	"rewritten_new_name_go_untrusted", "rewritten_wraps_helper_python_untrusted",
	"rewritten_wraps_python_untrusted", "rows_chosen_python", "rows_dropped_python", "ruby_rake_pattern",
	"ruby_test_unit", "runner_before_node", "script_compares_cmake", "script_shell_node",
	"service_postgres", "settings_above_python", "shared_examples_ruby", "signature_rust",
	"skipped_class_python", "skipped_elsewhere_python", "sources_moved_bug_python_untrusted",
	"sources_moved_part_go", "stale_lock_rust_untrusted", "stops_pytest", "suite_of_specs_go",
	"tagged_tests", "target_script", "test_pattern_python_untrusted", "test_settings_python_untrusted",
	"tests_elsewhere_doctest", "tests_elsewhere_make", "tests_elsewhere_node", "tests_found_whole_python",
	"tests_linked_folder", "tests_only", "tests_siblings_edited_python_untrusted", "third_party_untrusted",
	"too_much_make", "tree_of_tests_named_python", "tree_of_tests_python", "tree_of_tests_seen_python",
	"tree_of_tests_stem_node_untrusted", "twice", "twins_node", "two_commands_env_node_untrusted",
	"types_left_out_untrusted", "umbrella_elixir", "uncompiled_cmake_untrusted",
	"unittest_teardownclass_python", "unloaded_node", "unprepared_aside", "unprepared_node",
	"unprepared_tested", "unprepared_touched", "vacuous_python", "vanish_ignored_alone",
	"vanish_link_node_untrusted", "vanish_no_package_python", "vanish_renamed_node_untrusted",
	"vanish_renamed_python", "vendored_old", "weakened_inside_rust_untrusted", "workflow_action_edited_go",
	"workflow_action_go", "workflow_calls_script_edited_go", "workflow_calls_script_edited_go_untrusted",
	"workflow_calls_script_go", "workflow_four_calls_go", "workflow_four_calls_honest_go",
	"workflow_left_go", "workflow_matrix_honest_node", "workflow_matrix_node", "workflow_renamed_python",
	"workflow_script_node_untrusted", "workflow_variable_go_untrusted", "workspace",
	"workspace_member_node_untrusted", "workspace_program", "writes_checkout",
}

// leavesScenario says whether make test leaves a scenario out.
func leavesScenario(name string) bool {
	if slices.Contains(longScenarios, name) {
		return true
	}
	for _, left := range shownBy {
		if slices.Contains(left, name) {
			return true
		}
	}
	return false
}

// TestLeftScenarios holds that each scenario that is left out is there, and that what stands for
// another one is left out for its time at most.
func TestLeftScenarios(t *testing.T) {
	t.Parallel()
	for by, left := range shownBy {
		for _, name := range append(left[:len(left):len(left)], by) {
			if !folder.Exists(filepath.Join("testdata", "scenarios", name+".txtar")) {
				t.Errorf("there is no scenario %s", name)
			}
		}
		if !slices.Contains(longScenarios, by) && leavesScenario(by) {
			t.Errorf("%s stands for others and is left out as well", by)
		}
	}
	for _, name := range longScenarios {
		if !folder.Exists(filepath.Join("testdata", "scenarios", name+".txtar")) {
			t.Errorf("there is no scenario %s", name)
		}
	}
}
