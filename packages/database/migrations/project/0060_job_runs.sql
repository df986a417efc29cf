-- The run of each job that may publish here, by its number. A run whose number is not the one that stands here was lost
-- or ended, whatever it believes.
create table terrane.job_runs (
  job_id uuid primary key,
  number bigint not null,
  -- Runs that began before it: what they left behind carries their number.
  earlier bigint[] not null default '{}',
  begun_at timestamptz not null default clock_timestamp()
);
create index job_runs_begun on terrane.job_runs (begun_at);
