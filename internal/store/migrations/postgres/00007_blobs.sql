-- +goose Up
-- What lines and files hold is in blobs: digest is that of each part of 4 MiB, one behind
-- the other. A row without one has what it stands for in body: the newest lines of a run at
-- work, short files, and what earlier versions stored until it is moved. Of lines, kind and
-- name are not used any more; to drop them would rewrite the whole table.
alter table lines add column digest bytea not null default '';
alter table files add column digest bytea not null default '';
alter table files add column size bigint not null default 0;
drop index lines_entry;
create index lines_inline on lines (run) where length(digest) = 0;
create index files_inline on files (run) where length(digest) = 0 and length(body) > 128;

-- Blobs themselves, where no bucket is there for them.
create table blobs (
	name text primary key,
	body bytea not null
);

-- Runs that may have blobs that no row names, and from when on they are looked for.
create table loose (
	run text primary key,
	due bigint not null
);
create index loose_due on loose (due);

-- +goose Down
drop table loose;
drop table blobs;
drop index files_inline;
drop index lines_inline;
create index lines_entry on lines (run, kind, name) where kind <> '';
alter table files drop column size;
alter table files drop column digest;
alter table lines drop column digest;
