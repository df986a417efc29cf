-- What a project's database needs before any task writes into it.
do $$
declare
  r text;
begin
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if not exists (select 1 from pg_roles where rolname = r) then
      execute format('create role %I nologin noinherit', r);
    end if;
  end loop;
exception when duplicate_object or unique_violation then
  null; -- Another database of this server made them at the same moment.
end
$$;
do $$
begin
  if not (select rolbypassrls from pg_roles where rolname = 'service_role') then
    alter role service_role bypassrls;
  end if;
exception when insufficient_privilege then
  null; -- A managed server grants this itself.
end
$$;

create extension if not exists postgis;
create extension if not exists vector;

create schema if not exists terrane_staging;
revoke all on schema terrane_staging from public;

-- Which jobs have taken effect here, with their result: written in the transaction that makes the effect.
create table terrane.applied_jobs (
  job_id uuid primary key,
  result jsonb not null,
  applied_at timestamptz not null default now()
);

-- One row per table that an import made: where the data come from and under which licence.
create table terrane.imports (
  table_schema text not null,
  table_name text not null,
  job_id uuid not null,
  task text not null,
  source jsonb not null,
  attribution text not null,
  licence text not null,
  rows bigint not null,
  bbox double precision[],
  created_at timestamptz not null default now(),
  primary key (table_schema, table_name)
);

grant usage on schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to service_role;
alter default privileges in schema public grant usage, select on sequences to service_role;
