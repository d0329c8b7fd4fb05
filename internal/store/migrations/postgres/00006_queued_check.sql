-- +goose Up
-- What is known of the check run that shows that a job waits; package queue names the numbers.
alter table jobs add column queued_check bigint not null default 5;
create index jobs_queued_check on jobs (queued_check, river_id) where queued_check < 3;

-- +goose Down
drop index jobs_queued_check;
alter table jobs drop column queued_check;
