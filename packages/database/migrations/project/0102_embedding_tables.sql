-- Catalogue of embedding tables, their sources, and who may read and write them. `is_public` alone decides who reads a table:
-- everybody, or its owner and the service role.

create schema geoembeddings;
grant usage on schema geoembeddings to anon, authenticated, service_role;

create table geoembeddings.embeddings_catalogue (
  table_name text primary key check (table_name ~ '^[a-z][a-z0-9_]{0,62}$'),
  is_public boolean not null,
  -- The user who owns the table; null when a worker made it.
  owner uuid,
  -- geo: tiles of a raster; srai: H3 cells.
  kind text not null default 'geo',
  model_name text not null,
  model_sha256 text,
  model_licence text,
  dims integer not null check (dims between 1 and 16000),
  level text not null default 'tile',
  normalized boolean not null default true,
  metric text not null default 'cosine' check (metric in ('cosine', 'l2')),
  rows bigint not null,
  zero_vectors bigint not null default 0,
  -- True when the table has an HNSW index.
  approximate_index boolean not null default false,
  source text,
  source_crs text,
  attribution text,
  tile_size integer,
  stride integer,
  bands integer[],
  scale jsonb,
  -- Names of the dimensions, where they have names.
  feature_names text[],
  bbox double precision[] check (array_length(bbox, 1) = 4),
  metadata jsonb not null default '{}',
  job_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- halfvec or bit; null where every row is compared.
  index_kind text check (index_kind in ('halfvec', 'bit')),
  -- Part of the ten nearest rows that searches through the index find: a sample, measured when it was built.
  index_recall real check (index_recall between 0 and 1)
);
comment on column geoembeddings.embeddings_catalogue.source is 'Always null: embedding_origins has it.';

-- The rasters of a table and what became of each. Ids of rows tell the source: id >> 32.
create table geoembeddings.embedding_sources (
  table_name text not null references geoembeddings.embeddings_catalogue (table_name) on delete cascade on update cascade,
  source integer not null check (source between 0 and 2097151),
  -- First id of its rows; they end before the first id of the next source.
  first_id bigint not null generated always as (source::bigint << 32) stored,
  name text not null,
  -- When the imagery was taken.
  datetime timestamptz,
  profile text,
  crs text,
  data_type text,
  status text not null check (status in ('done', 'failed')),
  rows bigint not null default 0,
  skipped_nodata bigint not null default 0,
  zero_vectors bigint not null default 0,
  bbox double precision[] check (array_length(bbox, 1) = 4),
  -- Version of the file and of the request's words on it: the same is not embedded again.
  version text,
  error jsonb,
  job_id uuid,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (table_name, source),
  unique (table_name, name)
);

-- Address of a table's source, for its owner and the service role.
create table geoembeddings.embedding_origins (
  table_name text primary key references geoembeddings.embeddings_catalogue (table_name) on delete cascade on update cascade,
  -- Without credentials; or how many sources there are.
  source text,
  -- The part of `metadata` that describes the source.
  details jsonb
);

-- The role the request runs under: PostgREST sets it; a direct connection has only its own.
create function geoembeddings.caller_role() returns text
language sql stable
as $$ select coalesce(nullif(current_setting('role', true), 'none'), session_user::text) $$;

-- The signed-in user of the request, or null.
create function geoembeddings.caller_id() returns uuid
language plpgsql stable
as $$
begin
  return (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid;
exception when others then
  return null; -- Claims that are no JSON, or a subject that is no UUID, own nothing.
end
$$;

-- True for the service role and for direct connections, which set no role. A role that is not known is not trusted.
create function geoembeddings.is_trusted() returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select current_setting('role', true) = 'service_role'
    or coalesce(nullif(current_setting('role', true), 'none'), session_user) = session_user
      and session_user not in ('anon', 'authenticated', 'authenticator')
$$;

-- Public tables are read by everybody, others by their owner and trusted callers.
create function geoembeddings.can_read(owner uuid, is_public boolean) returns boolean
language sql stable
as $$
  select coalesce(is_public, false) or coalesce(owner = geoembeddings.caller_id(), false) or geoembeddings.is_trusted()
$$;

-- Only the owner changes a table; tables without an owner belong to the service role.
create function geoembeddings.can_write(owner uuid) returns boolean
language sql stable
as $$
  select coalesce(owner = geoembeddings.caller_id(), false) or geoembeddings.is_trusted()
$$;

alter table geoembeddings.embeddings_catalogue enable row level security;
create policy visible on geoembeddings.embeddings_catalogue for select
  using (geoembeddings.can_read(owner, is_public));
create policy own on geoembeddings.embeddings_catalogue for update
  using (geoembeddings.can_write(owner)) with check (geoembeddings.can_write(owner));
grant select on geoembeddings.embeddings_catalogue to anon, authenticated, service_role;
grant update (is_public) on geoembeddings.embeddings_catalogue to authenticated, service_role;

-- Names of sources, and why one failed, are for the owner and the service role; list_sources shows the rest to readers.
alter table geoembeddings.embedding_sources enable row level security;
create policy own on geoembeddings.embedding_sources for select using (exists (
  select from geoembeddings.embeddings_catalogue c
  where c.table_name = embedding_sources.table_name and geoembeddings.can_write(c.owner)));
grant select on geoembeddings.embedding_sources to anon, authenticated, service_role;

alter table geoembeddings.embedding_origins enable row level security;
create policy own on geoembeddings.embedding_origins for select using (exists (
  select from geoembeddings.embeddings_catalogue c
  where c.table_name = embedding_origins.table_name and geoembeddings.can_write(c.owner)));
grant select on geoembeddings.embedding_origins to authenticated, service_role;

create function geoembeddings.touch_catalogue() returns trigger
language plpgsql
as $$
begin
  new.updated_at := clock_timestamp();
  return new;
end
$$;
create trigger touch before update on geoembeddings.embeddings_catalogue
  for each row execute function geoembeddings.touch_catalogue();

-- A table without an owner is public unless its row says otherwise. A table that is given an owner is read by the owner alone at first.
create function geoembeddings.default_readers() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    new.is_public := new.is_public and not (old.owner is null and new.owner is not null);
  else
    new.is_public := coalesce(new.is_public, new.owner is null);
  end if;
  return new;
end
$$;
create trigger default_readers before insert or update of owner on geoembeddings.embeddings_catalogue
  for each row execute function geoembeddings.default_readers();

-- The catalogue row of a table the caller may read. Unknown and invisible look the same.
create function geoembeddings.readable(wanted text) returns geoembeddings.embeddings_catalogue
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  entry geoembeddings.embeddings_catalogue;
begin
  select c.* into entry from geoembeddings.embeddings_catalogue c
  where c.table_name = wanted and geoembeddings.can_read(c.owner, c.is_public);
  if not found then
    raise exception using errcode = '42P01',
      message = format('embedding table "%s" does not exist', wanted),
      hint = 'GET /rest/v1/embeddings_catalogue with Accept-Profile: geoembeddings lists the tables you may read.';
  end if;
  return entry;
end
$$;
