-- Table hooks: who is told of the changes of a table's rows.
create table terrane.table_hooks (
  id uuid primary key,
  project_ref text not null,
  organization_id uuid references terrane.organizations (id) on delete cascade,
  project_id uuid references terrane.projects (id) on delete cascade,
  table_schema text not null,
  table_name text not null,
  events text[] not null,
  -- Columns of which an update must change one; null: any.
  columns text[],
  -- Values that the row must have; null: any.
  condition jsonb,
  -- The address without credentials, or the path of a function; `sealed` has what is called, with the secret, AES-256-GCM.
  shown_url text not null,
  sealed bytea not null,
  description text not null,
  attempts integer not null,
  paused boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index table_hooks_of on terrane.table_hooks (project_ref);
