-- A run was interrupted and may have left tables in the project's database, which the next run takes over. Where none comes
-- the upkeep removes them.
alter table terrane.jobs add column leftovers boolean not null default false;
create index jobs_leftovers on terrane.jobs (finished_at) where leftovers;
