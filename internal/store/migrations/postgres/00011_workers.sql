-- +goose Up
-- The workers, each with its lease: package queue has the rules. On SQLite one process works.
create table workers (
	id text primary key,
	epoch bigint not null default 1,
	backend bigint not null,
	since timestamptz not null,
	renewed timestamptz not null,
	expires timestamptz not null
);

-- +goose Down
drop table workers;
