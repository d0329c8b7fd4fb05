-- +goose Up
-- All that runs are looked for by, so that a search reads this index alone, and of it only
-- what is of the repositories that the viewer may see.
create index runs_search on runs (repo_id, created, id, number, verdict, state, lower(actor), head_sha);
drop index runs_repo_id;
create index runs_installation on runs (installation);

-- What runs said of tests; indexed is 0 until that is in test_results, then 1, or 2 where
-- the run compared tests: see TestResult.
alter table runs add column indexed integer not null default 0;
create index runs_indexed on runs (created) where indexed = 0;
create table test_results (
	repo_id integer not null,
	run text not null,
	test text not null,
	outcome text not null,
	detail text not null,
	created integer not null,
	primary key (run, test)
);
create index test_results_test on test_results (repo_id, test, created, outcome, run);

-- +goose Down
drop table test_results;
drop index runs_indexed;
alter table runs drop column indexed;
drop index runs_installation;
create index runs_repo_id on runs (repo_id, created);
drop index runs_search;
