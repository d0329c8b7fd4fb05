-- +goose Up
create table runs (
	id text primary key,
	job text not null,
	repo text not null,
	number bigint not null,
	installation bigint not null,
	base_sha text not null,
	head_sha text not null,
	trigger_kind text not null,
	actor text not null,
	state text not null,
	verdict text not null,
	reason text not null,
	cost_usd double precision not null,
	tokens bigint not null,
	created bigint not null,
	started bigint not null,
	ended bigint not null
);
create index runs_job on runs (job);
create index runs_repo on runs (repo, number, created);
create index runs_created on runs (created);

-- One line of an append-only file of a run's directory. The offset of a line is where
-- the one before it ended, so that two writers cannot both append.
create table lines (
	run text not null,
	file text not null,
	start_at bigint not null,
	end_at bigint not null,
	kind text not null,
	name text not null,
	body bytea not null,
	primary key (run, file, start_at)
);
create index lines_entry on lines (run, kind, name) where kind <> '';

create table files (
	run text not null,
	name text not null,
	body bytea not null,
	primary key (run, name)
);

create table effects (
	name text primary key,
	value text not null,
	created bigint not null
);
create index effects_created on effects (created);

create table deliveries (
	id text primary key,
	event text not null,
	body_sha256 text not null,
	received bigint not null
);
create index deliveries_received on deliveries (received);

create table jobs (
	id text primary key,
	river_id bigint,
	repo text not null,
	number bigint not null,
	installation bigint not null,
	head_sha text not null,
	asked bigint not null,
	event_at bigint not null,
	body bytea not null,
	cancel text not null,
	starts bigint not null,
	created bigint not null
);
create unique index jobs_river on jobs (river_id);
create index jobs_pull on jobs (repo, number);
create index jobs_created on jobs (created);

-- +goose Down
drop table jobs;
drop table deliveries;
drop table effects;
drop table files;
drop table lines;
drop table runs;
