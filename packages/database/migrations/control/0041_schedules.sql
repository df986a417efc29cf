-- Requests that are submitted again and again.
create table terrane.schedules (
  id uuid primary key,
  task text not null,
  project_ref text not null,
  organization_id uuid references terrane.organizations (id) on delete cascade,
  project_id uuid references terrane.projects (id) on delete cascade,
  name text not null,
  cron text not null,
  time_zone text not null,
  -- What may be shown of the request, and all of it, AES-256-GCM.
  input jsonb not null,
  sealed_input bytea not null,
  -- Null while it is paused, and when there is no time left at which it would run.
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

-- The record names its schedule also when that is gone.
alter table terrane.jobs add column schedule_id uuid, add column scheduled_for timestamptz;
create index jobs_schedule on terrane.jobs (schedule_id) where schedule_id is not null;
