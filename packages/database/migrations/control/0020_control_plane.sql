-- One control plane: organizations, their projects, keys and sealed credentials, in one set of tables that every app asks.
-- It takes over what the worker (projects, services_keys), the functions host (function_projects) and the console
-- (console_projects, console_organizations) kept each for itself.

-- Projects that only the functions host knew had no organization: they go to the default one.
create temporary table refs_without_organization on commit drop as
  select r.ref from (
    select ref from terrane.function_projects
    union select project_ref from terrane.function_versions
    union select project_ref from terrane.function_secrets
  ) r where not exists (select 1 from terrane.projects p where p.ref = r.ref);
insert into terrane.organizations (id, name)
  select '00000000-0000-7000-8000-000000000000', 'default' where exists (select 1 from refs_without_organization)
  on conflict (id) do nothing;
insert into terrane.projects (ref, organization_id)
  select ref, '00000000-0000-7000-8000-000000000000' from refs_without_organization;

-- A reference is unique within its organization; everything that is kept of a project is kept by its id.
alter table terrane.console_projects drop constraint console_projects_ref_fkey;
alter table terrane.projects drop constraint projects_pkey;
alter table terrane.projects
  add column id uuid not null default gen_random_uuid(),
  add column name text not null default '',
  -- The part of a host name before the domain of a shared functions host.
  add column host_label text,
  -- Where objects and deployed code of the project lie, under `projects/` of the pool's storage and in bucket `functions`.
  add column folder text,
  -- AES-256-GCM of the credentials, bound to the id.
  add column sealed_credentials bytea,
  add column updated_at timestamptz not null default clock_timestamp();
update terrane.projects p set host_label = ref, folder = ref,
  name = coalesce((select c.name from terrane.console_projects c where c.ref = p.ref), '');
alter table terrane.projects
  alter column id drop default,
  alter column host_label set not null,
  alter column folder set not null,
  add primary key (id),
  add unique (organization_id, ref),
  add unique (host_label),
  add unique (folder);

-- What the apps had sealed each under a name of its own. The first process that has the key seals it anew as one.
create table terrane.unmerged_credentials (
  project_id uuid not null references terrane.projects (id) on delete cascade,
  part text not null check (part in ('worker', 'functions', 'console')),
  sealed bytea not null,
  primary key (project_id, part)
);
insert into terrane.unmerged_credentials (project_id, part, sealed)
  select id, 'worker', sealed_target from terrane.projects where sealed_target is not null
  union all
  select p.id, 'functions', f.sealed_settings from terrane.function_projects f join terrane.projects p using (ref)
  union all
  select p.id, 'console', c.sealed_connection from terrane.console_projects c join terrane.projects p using (ref)
  where c.sealed_connection is not null;
alter table terrane.projects drop column sealed_target;
drop table terrane.function_projects;
drop table terrane.console_projects;

-- The key that the console sends for an organization.
alter table terrane.organizations add column sealed_services_key bytea;
update terrane.organizations o set sealed_services_key = c.sealed_services_key
  from terrane.console_organizations c where c.organization_id = o.id;
drop table terrane.console_organizations;

create table terrane.keys (
  id uuid primary key,
  sha256 text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
  -- How the key begins, so that people can tell keys apart.
  prefix text not null,
  organization_id uuid not null references terrane.organizations (id) on delete cascade,
  project_id uuid references terrane.projects (id) on delete cascade,
  role text not null check (role in ('anon', 'service_role', 'services', 'operator')),
  -- What a services key is good for; null is everything.
  scopes text[],
  label text not null default '',
  -- `local:{ref}` for keys that a local stack registers from its environment; null for those that were issued.
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
insert into terrane.keys (id, sha256, prefix, organization_id, role, label, created_at, revoked_at)
  select gen_random_uuid(), sha256, 'sha256:' || left(sha256, 16), organization_id, 'services', label, created_at, revoked_at
  from terrane.services_keys;
drop table terrane.services_keys;

-- Jobs of a registered project go with it.
alter table terrane.jobs add column project_id uuid references terrane.projects (id) on delete cascade;
update terrane.jobs j set project_id = p.id from terrane.projects p
  where p.ref = j.project_ref and p.organization_id = j.organization_id;
create index jobs_project on terrane.jobs (project_id) where project_id is not null;

-- Functions are kept by the id of their project.
alter table terrane.function_live drop constraint function_live_project_ref_name_version_fkey;
alter table terrane.function_live drop constraint function_live_pkey;
alter table terrane.function_versions drop constraint function_versions_pkey;
alter table terrane.function_secrets drop constraint function_secrets_pkey;
drop index terrane.function_versions_digest;
alter table terrane.function_versions add column project_id uuid references terrane.projects (id) on delete cascade;
alter table terrane.function_live add column project_id uuid;
-- Secrets were sealed for the reference; `sealed_for` is it until a host has sealed them anew for the id.
alter table terrane.function_secrets
  add column project_id uuid references terrane.projects (id) on delete cascade,
  add column sealed_for text;
update terrane.function_versions f set project_id = p.id from terrane.projects p where p.ref = f.project_ref;
update terrane.function_live f set project_id = p.id from terrane.projects p where p.ref = f.project_ref;
update terrane.function_secrets f set project_id = p.id, sealed_for = p.ref from terrane.projects p where p.ref = f.project_ref;
alter table terrane.function_versions drop column project_ref, add primary key (project_id, name, version);
alter table terrane.function_live drop column project_ref, add primary key (project_id, name),
  add foreign key (project_id, name, version) references terrane.function_versions (project_id, name, version) on delete cascade;
alter table terrane.function_secrets drop column project_ref, add primary key (project_id, name, key);
create index function_versions_digest on terrane.function_versions (project_id, digest);
