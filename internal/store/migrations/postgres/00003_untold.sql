-- +goose Up
-- Runs that ended while the App had no access: people are told when it has again.
alter table runs add column untold bigint not null default 0;
create index runs_untold on runs (created) where untold <> 0;

-- +goose Down
drop index runs_untold;
alter table runs drop column untold;
