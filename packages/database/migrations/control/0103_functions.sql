-- Deployed functions. Code lies in object storage by its digest; a version never changes.
create table terrane.function_versions (
  name text not null check (name ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$'),
  version integer not null check (version > 0),
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  bytes bigint not null,
  policy jsonb not null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  project_id uuid references terrane.projects (id) on delete cascade,
  primary key (project_id, name, version)
);
create index function_versions_digest on terrane.function_versions (project_id, digest);

-- The version that answers. A change names the etag that it has read, so that of two changes one is refused.
create table terrane.function_live (
  name text not null,
  version integer not null,
  etag uuid not null default gen_random_uuid(),
  updated_at timestamptz not null default clock_timestamp(),
  project_id uuid,
  primary key (project_id, name),
  foreign key (project_id, name, version) references terrane.function_versions (project_id, name, version) on delete cascade
);

-- Secrets of functions, AES-256-GCM. Those with an empty name are the project's.
create table terrane.function_secrets (
  name text not null default '',
  key text not null check (key ~ '^[A-Za-z_][A-Za-z0-9_]*$'),
  sealed bytea not null,
  updated_at timestamptz not null default clock_timestamp(),
  project_id uuid references terrane.projects (id) on delete cascade,
  -- The reference that an earlier version sealed it for; null once a host has sealed it anew for the project's id.
  sealed_for text,
  primary key (project_id, name, key)
);
