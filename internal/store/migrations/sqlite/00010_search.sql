-- +goose Up
-- What runs are looked for by. In each a search reads only what is of the repositories
-- that the viewer may see.
create index runs_search on runs (repo_id, created, id, verdict, state);
create index runs_actor on runs (lower(actor), repo_id, created, id, verdict, state);
create index runs_number on runs (number, repo_id, created, id);
create index runs_commit on runs (repo_id, head_sha);
drop index runs_repo_id;
create index runs_installation on runs (installation);

-- What runs said of tests; indexed is 0 until that is in test_results, then 1, or 2 where
-- the run compared tests: see TestResult.
alter table runs add column indexed integer not null default 0;
create index runs_indexed on runs (created) where indexed = 0;
create table tests (
	id integer primary key,
	repo_id integer not null,
	name text not null,
	folded text not null,
	unique (repo_id, name)
);
create table test_results (
	test integer not null,
	run text not null,
	outcome text not null,
	detail text not null,
	created integer not null,
	primary key (test, run)
) without rowid;
create index test_results_run on test_results (run);

-- +goose Down
drop table test_results;
drop table tests;
drop index runs_indexed;
alter table runs drop column indexed;
drop index runs_installation;
create index runs_repo_id on runs (repo_id, created);
drop index runs_commit;
drop index runs_number;
drop index runs_actor;
drop index runs_search;
