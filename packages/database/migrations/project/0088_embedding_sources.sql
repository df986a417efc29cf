-- Of which rasters a table was made, and what became of each. Ids of rows tell the source: id >> 32.
create table geoembeddings.embedding_sources (
  table_name text not null references geoembeddings.embeddings_catalogue (table_name) on delete cascade on update cascade,
  source integer not null check (source between 0 and 2097151),
  -- Rows of the source have ids from here, up to the next one's.
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
  -- Of the file and of what the request said of it: the same is not embedded again.
  version text,
  error jsonb,
  job_id uuid,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (table_name, source),
  unique (table_name, name)
);

alter table geoembeddings.embedding_sources enable row level security;
create policy visible on geoembeddings.embedding_sources for select using (exists (
  select 1 from geoembeddings.embeddings_catalogue c where c.table_name = embedding_sources.table_name));
grant select on geoembeddings.embedding_sources to anon, authenticated, service_role;
