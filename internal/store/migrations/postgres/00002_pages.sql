-- +goose Up
-- Who may see a run is decided by the repository's number: names are used again.
alter table runs add column repo_id bigint not null default 0;
alter table runs add column title text not null default '';
create index runs_repo_id on runs (repo_id, created);

-- +goose Down
drop index runs_repo_id;
alter table runs drop column title;
alter table runs drop column repo_id;
