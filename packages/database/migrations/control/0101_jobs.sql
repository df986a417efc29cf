-- Public records of jobs. pg-boss keeps the queue itself in schema pgboss.
create table terrane.jobs (
  id uuid primary key,
  task text not null,
  project_ref text not null,
  organization_id uuid,
  status text not null default 'pending' check (status in ('pending', 'running', 'success', 'failed')),
  -- The input for display: no keys, no signatures of URLs.
  input jsonb not null,
  -- The whole input, AES-256-GCM.
  sealed_input bytea not null,
  progress jsonb,
  result jsonb,
  error jsonb,
  attempt integer not null default 0,
  max_attempts integer not null,
  cancel_requested boolean not null default false,
  -- Rises with every change; the id of an event.
  revision bigint not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null default clock_timestamp(),
  -- A registered project; its jobs go with it.
  project_id uuid references terrane.projects (id) on delete cascade,
  -- The request that asked for the job, and the failed job that it tries again.
  request_id text,
  retry_of uuid,
  -- Number of the last line of the log, with lines that were left out for want of room.
  log_lines integer not null default 0,
  -- The record names its schedule also when that is gone.
  schedule_id uuid,
  scheduled_for timestamptz,
  -- A run was interrupted and may have left tables in the project's database. The next run takes them over, or maintenance removes them.
  leftovers boolean not null default false,
  -- Trace of the request (W3C traceparent); the runs are part of it.
  traceparent text,
  -- A job may work in parts: its shards are jobs of their own, whose parent waits without holding a worker.
  parent_id uuid references terrane.jobs (id) on delete cascade,
  -- True from the end of a run that planned shards until they have ended.
  waits boolean not null default false
);
create index jobs_list on terrane.jobs (project_ref, task, created_at, id);
create index jobs_unfinished on terrane.jobs (status) where status in ('pending', 'running');
create index jobs_finished on terrane.jobs (finished_at) where finished_at is not null;
create index jobs_project on terrane.jobs (project_id) where project_id is not null;
create index jobs_schedule on terrane.jobs (schedule_id) where schedule_id is not null;
create index jobs_leftovers on terrane.jobs (finished_at) where leftovers;
create index jobs_shards on terrane.jobs (parent_id, id) where parent_id is not null;

-- Numbers of runs: of two runs of a job the one with the larger number is later.
create sequence terrane.run_numbers;

-- The log of each job, for its owner.
create table terrane.job_lines (
  job_id uuid not null references terrane.jobs (id) on delete cascade,
  number integer not null,
  at timestamptz not null,
  level text not null check (level in ('info', 'warning', 'error')),
  event text not null,
  attempt integer not null,
  phase text,
  message text not null,
  code text,
  request_id text,
  primary key (job_id, number)
);

create table terrane.idempotency_keys (
  project_ref text not null,
  task text not null,
  key text not null,
  body_sha256 text not null,
  job_id uuid not null references terrane.jobs (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_ref, task, key)
);

-- The order in which jobs of one task are served: the last number of each project, and of the project served last under the empty
-- name.
create table terrane.turns (
  task text not null,
  project text not null,
  turn bigint not null,
  primary key (task, project)
);

-- Requests that are submitted at the times of a cron expression.
create table terrane.schedules (
  id uuid primary key,
  task text not null,
  project_ref text not null,
  organization_id uuid references terrane.organizations (id) on delete cascade,
  project_id uuid references terrane.projects (id) on delete cascade,
  name text not null,
  cron text not null,
  time_zone text not null,
  -- The request for display, and the whole of it, AES-256-GCM.
  input jsonb not null,
  sealed_input bytea not null,
  -- Null while it is paused, and when no time is left.
  next_at timestamptz,
  paused boolean not null,
  last_tick_at timestamptz,
  last_job_id uuid,
  -- Times that were left out because the job of an earlier one had not ended.
  skipped integer not null default 0,
  last_skipped_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index schedules_due on terrane.schedules (next_at) where next_at is not null;
create index schedules_list on terrane.schedules (project_ref, created_at, id);
