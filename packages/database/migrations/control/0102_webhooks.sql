-- Webhooks: addresses that receive the ends of a project's jobs.
create table terrane.webhooks (
  id uuid primary key,
  project_ref text not null,
  organization_id uuid references terrane.organizations (id) on delete cascade,
  project_id uuid references terrane.projects (id) on delete cascade,
  -- The address without credentials; `sealed` has it whole, with the secret, AES-256-GCM.
  shown_url text not null,
  sealed bytea not null,
  description text not null,
  -- Null is every task.
  tasks text[],
  statuses text[] not null,
  paused boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index webhooks_of on terrane.webhooks (project_ref);

-- One row per webhook and job; deleted with the job's record.
create table terrane.webhook_deliveries (
  id uuid primary key,
  webhook_id uuid not null references terrane.webhooks (id) on delete cascade,
  job_id uuid not null references terrane.jobs (id) on delete cascade,
  type text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  settled_at timestamptz,
  unique (webhook_id, job_id)
);
create index webhook_deliveries_job on terrane.webhook_deliveries (job_id);
create index webhook_deliveries_list on terrane.webhook_deliveries (webhook_id, created_at, id);

create table terrane.webhook_attempts (
  delivery_id uuid not null references terrane.webhook_deliveries (id) on delete cascade,
  number integer not null,
  at timestamptz not null default clock_timestamp(),
  status_code integer,
  error text,
  ms integer not null,
  primary key (delivery_id, number)
);
