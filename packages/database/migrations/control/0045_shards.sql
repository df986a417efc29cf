-- A job may work in parts: its shards are jobs of their own, whose parent waits without holding a worker.
alter table terrane.jobs add column parent_id uuid references terrane.jobs (id) on delete cascade;
create index jobs_shards on terrane.jobs (parent_id, id) where parent_id is not null;
-- True from the end of a run that planned shards until they have ended.
alter table terrane.jobs add column waits boolean not null default false;
