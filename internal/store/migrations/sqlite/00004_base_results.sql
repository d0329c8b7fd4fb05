-- +goose Up
-- What tests of bases said, for all workers: see BaseResults.
create table base_results (
	name text primary key,
	repo text not null,
	created integer not null,
	body blob not null
);
create index base_results_repo on base_results (repo, created);

-- +goose Down
drop table base_results;
