-- +goose Up
-- In which runs a test failed on the head, the newest of them: for searches by a test's name.
create index test_results_failing on test_results (test, created, run) where outcome in ('broken', 'new_failing', 'pre_existing');

-- +goose Down
drop index test_results_failing;
