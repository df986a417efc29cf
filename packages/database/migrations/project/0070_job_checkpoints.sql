-- What a run of a job keeps beside its staging tables, so that a later run can go on from there.
create table terrane.job_checkpoints (
  job_id uuid primary key,
  -- The run whose staging tables it is about.
  run bigint not null,
  state jsonb not null,
  kept_at timestamptz not null default clock_timestamp()
);
