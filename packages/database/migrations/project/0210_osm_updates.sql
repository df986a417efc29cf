-- Imports of OpenStreetMap that are kept up to date, and what updates change.

-- One row per import that keeps what updates need, by the prefix of its tables.
create table terrane.osm_imports (
  table_prefix text primary key,
  job_id uuid not null unique,
  -- Table of the schema terrane with the elements of the extract, in pages.
  pages_table text not null,
  -- GeoJSON of the area, as the import read it.
  area jsonb not null,
  topics text[] not null,
  clip boolean not null,
  -- Hash of the rules that made the rows; with other rules an update would mix two kinds of rows.
  rules text not null,
  -- Boxes of the extract, four numbers each; null where it does not state any.
  extent double precision[],
  -- The data's own time and place in the replication that it came from.
  data_timestamp timestamptz,
  replication_url text,
  sequence bigint,
  -- Counts the change files: a run that has read an older state must not write.
  version bigint not null default 0,
  updated_at timestamptz not null default now()
);

-- What jobs that update an import have done so far, with its version after the last file.
create table terrane.osm_updates (
  job_id uuid primary key,
  table_prefix text not null references terrane.osm_imports on delete cascade,
  version bigint not null,
  files int not null,
  tables jsonb not null,
  updated_at timestamptz not null default now()
);
create index osm_updates_by_prefix on terrane.osm_updates (table_prefix);

-- Boxes in which rows of a table have changed.
create table terrane.changes (
  id bigint generated always as identity primary key,
  table_schema text not null,
  table_name text not null,
  -- West, south, east, north.
  bbox double precision[] not null,
  -- Of the replication; null for a file without a number.
  sequence bigint,
  job_id uuid not null,
  changed_at timestamptz not null default now()
);
create index changes_by_table on terrane.changes (table_schema, table_name, id);
create index changes_by_time on terrane.changes (changed_at);

-- The pages of an import go with the last of its tables.
create function terrane.forget_osm_import() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  pages text;
begin
  if old.task = 'osmImportArea' and not exists (select from terrane.imports i where i.job_id = old.job_id) then
    delete from terrane.osm_imports o where o.job_id = old.job_id returning o.pages_table into pages;
    if pages is not null then
      execute format('drop table if exists terrane.%I', pages);
    end if;
  end if;
  return null;
end
$$;
revoke all on function terrane.forget_osm_import() from public;
create trigger forget_osm_import after delete on terrane.imports
  for each row execute function terrane.forget_osm_import();
