-- The worker's own records: the public face of every job. pg-boss keeps the queue itself in schema pgboss.
create table terrane.jobs (
  id uuid primary key,
  task text not null,
  project_ref text not null,
  organization_id uuid,
  status text not null default 'pending' check (status in ('pending', 'running', 'success', 'failed')),
  -- What the caller may see again: no keys, no signatures of URLs.
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
  updated_at timestamptz not null default clock_timestamp()
);
create index jobs_list on terrane.jobs (project_ref, task, created_at, id);
create index jobs_unfinished on terrane.jobs (status) where status in ('pending', 'running');
create index jobs_finished on terrane.jobs (finished_at) where finished_at is not null;

create table terrane.idempotency_keys (
  project_ref text not null,
  task text not null,
  key text not null,
  body_sha256 text not null,
  job_id uuid not null references terrane.jobs (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_ref, task, key)
);

-- The shared pool: organizations, their services keys and the projects they may reach.
create table terrane.organizations (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null default now()
);
create table terrane.services_keys (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  organization_id uuid not null references terrane.organizations (id) on delete cascade,
  label text not null default '',
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create table terrane.projects (
  ref text primary key check (ref ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  organization_id uuid not null references terrane.organizations (id) on delete cascade,
  -- AES-256-GCM of {databaseUrl, serviceRoleKey?, storageUrl?}; null when every job must bring its own.
  sealed_target bytea,
  created_at timestamptz not null default now()
);
