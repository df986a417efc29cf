-- Tables of imports, and what jobs keep in the project's database.

-- Tables under way. They move into their schema when they are whole.
create schema if not exists terrane_staging;
revoke all on schema terrane_staging from public;

-- Results of jobs that have taken effect here, written in the transaction that makes the effect.
create table terrane.applied_jobs (
  job_id uuid primary key,
  result jsonb not null,
  applied_at timestamptz not null default now()
);

-- The run of each job that may publish here, by its number. Any other run was lost or has ended, and must not publish.
create table terrane.job_runs (
  job_id uuid primary key,
  number bigint not null,
  -- Earlier runs: the names of their staging tables carry these numbers.
  earlier bigint[] not null default '{}',
  begun_at timestamptz not null default clock_timestamp()
);
create index job_runs_begun on terrane.job_runs (begun_at);

-- State of a run beside its staging tables, from which a later run goes on.
create table terrane.job_checkpoints (
  job_id uuid primary key,
  -- The run whose staging tables the state is about.
  run bigint not null,
  -- json keeps the order of keys: metadata of files is made of it.
  state json not null,
  kept_at timestamptz not null default clock_timestamp(),
  -- Transaction of the checkpoint where more rows were to come: the state does not cover rows of later transactions.
  rows_before xid8
);

-- One row per imported table: source and licence of its data.
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
