-- +goose Up
-- The jobs that wait for their turn, by repository: a job that waits was never begun and is
-- not cancelled.
create index jobs_turn on jobs (repo, river_id) where starts = 0 and cancel = '';

-- +goose Down
drop index jobs_turn;
