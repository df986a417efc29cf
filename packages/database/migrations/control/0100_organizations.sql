-- Organizations, their projects, keys and sealed credentials, which every app reads.
create table terrane.organizations (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null default now(),
  -- AES-256-GCM of the services key that the console sends for the organization; `keys` has its hash.
  sealed_services_key bytea
);

-- A reference is unique within its organization; everything that is kept of a project is kept by its id.
create table terrane.projects (
  ref text not null check (ref ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  organization_id uuid not null references terrane.organizations (id) on delete cascade,
  created_at timestamptz not null default now(),
  id uuid primary key,
  name text not null default '',
  -- The part of a host name before the domain of a shared functions host.
  host_label text not null unique,
  -- Folder of the project's objects and deployed code, under `projects/` of the pool's storage and in bucket `functions`.
  folder text not null unique,
  -- AES-256-GCM of the credentials, bound to the id.
  sealed_credentials bytea,
  updated_at timestamptz not null default clock_timestamp(),
  unique (organization_id, ref)
);

-- Credentials that each app sealed for itself before the apps shared these tables. The first process that has the key seals them as one.
create table terrane.unmerged_credentials (
  project_id uuid not null references terrane.projects (id) on delete cascade,
  part text not null check (part in ('worker', 'functions', 'console')),
  sealed bytea not null,
  primary key (project_id, part)
);

create table terrane.keys (
  id uuid primary key,
  sha256 text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The first characters of the key, so that people can tell keys apart.
  prefix text not null,
  organization_id uuid not null references terrane.organizations (id) on delete cascade,
  project_id uuid references terrane.projects (id) on delete cascade,
  role text not null check (role in ('anon', 'service_role', 'services', 'operator')),
  -- Scopes of a services key; null is everything.
  scopes text[],
  label text not null default '',
  -- `local:{ref}` for keys that a local stack registers from its environment; null for issued keys.
  registered_by text,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  -- To the minute.
  last_used_at timestamptz,
  check ((project_id is not null) = (role in ('anon', 'service_role')))
);
create index keys_organization on terrane.keys (organization_id);
create index keys_project on terrane.keys (project_id) where project_id is not null;

-- Revoked tokens that are signed and not registered (of users, of signed URLs): by their text, by their id (jti), or all that one key
-- has signed (kid). Never the token itself: sha256 is of its canonical text, or of project, kind and id.
create table terrane.revoked_tokens (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  kind text not null check (kind in ('token', 'jti', 'kid')),
  project_id uuid references terrane.projects (id) on delete cascade,
  revoked_at timestamptz not null default clock_timestamp(),
  -- Expiry of the token; null for ids.
  expires_at timestamptz
);
