-- The registry of deployed functions. Code lies in object storage by its digest; a version never changes.
create table terrane.function_versions (
  project_ref text not null,
  name text not null check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  version integer not null check (version > 0),
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  bytes bigint not null,
  policy jsonb not null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_ref, name, version)
);
create index function_versions_digest on terrane.function_versions (project_ref, digest);

-- The version that answers. Whoever changes it names the etag it has read, so that of two changes one is refused.
create table terrane.function_live (
  project_ref text not null,
  name text not null,
  version integer not null,
  etag uuid not null default gen_random_uuid(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_ref, name),
  foreign key (project_ref, name, version) references terrane.function_versions (project_ref, name, version)
);

-- A function's secrets; those of an empty name are the project's. AES-256-GCM.
create table terrane.function_secrets (
  project_ref text not null,
  name text not null default '',
  key text not null check (key ~ '^[A-Za-z_][A-Za-z0-9_]*$'),
  sealed bytea not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_ref, name, key)
);

-- What a shared host has to know of a project: AES-256-GCM of {apiUrl, anonKey, serviceKey, jwtSecret?, jwksUrl?}.
create table terrane.function_projects (
  ref text primary key check (ref ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  sealed_settings bytea not null,
  updated_at timestamptz not null default clock_timestamp()
);
