-- +goose Up
-- In how many runs tests gave both results on the same code: see Flakes.
create table flakes (
	name text primary key,
	repo text not null,
	programs text not null,
	test text not null,
	times integer not null,
	last integer not null
);
create index flakes_repo on flakes (repo, programs);

-- +goose Down
drop table flakes;
