-- +goose Up
-- A search by a test's name reads these alone: a look at a table for each of thousands of
-- names and results took longer than all else of it.
drop index test_results_failing;
create index test_results_failing on test_results (test, created, run, outcome) where outcome in ('broken', 'new_failing', 'pre_existing');
create index tests_folded on tests (repo_id, folded);

-- +goose Down
drop index tests_folded;
drop index test_results_failing;
create index test_results_failing on test_results (test, created, run) where outcome in ('broken', 'new_failing', 'pre_existing');
