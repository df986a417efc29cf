-- Embedding tables, their catalogue, and the search functions that clients call through PostgREST.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = public, extensions;
create schema geoembeddings;
grant usage on schema geoembeddings to anon, authenticated, service_role;

create table geoembeddings.embeddings_catalogue (
  table_name text primary key check (table_name ~ '^[a-z][a-z0-9_]{0,62}$'),
  is_public boolean not null default false,
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
  -- True when the table carries an HNSW index on (embedding::halfvec(dims)).
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
  updated_at timestamptz not null default now()
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

-- Own, public and worker-made tables may be read by everybody; the service role and direct connections read all.
create function geoembeddings.can_read(owner uuid, is_public boolean) returns boolean
language sql stable
as $$
  select is_public or owner is null or owner = geoembeddings.caller_id()
    or geoembeddings.caller_role() not in ('anon', 'authenticated')
$$;

-- Only the owner changes a table; worker-made ones belong to the service role.
create function geoembeddings.can_write(owner uuid) returns boolean
language sql stable
as $$
  select coalesce(owner = geoembeddings.caller_id(), false) or geoembeddings.caller_role() not in ('anon', 'authenticated')
$$;

alter table geoembeddings.embeddings_catalogue enable row level security;
create policy visible on geoembeddings.embeddings_catalogue for select
  using (geoembeddings.can_read(owner, is_public));
create policy own on geoembeddings.embeddings_catalogue for update
  using (geoembeddings.can_write(owner)) with check (geoembeddings.can_write(owner));
grant select on geoembeddings.embeddings_catalogue to anon, authenticated, service_role;
grant update (is_public) on geoembeddings.embeddings_catalogue to authenticated, service_role;

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

-- Gives a geometry without an SRID the one the caller names, then brings it to 4326.
create function geoembeddings.as_4326(g geometry, srid integer) returns geometry
language sql stable
set search_path = public, extensions, pg_catalog, pg_temp
as $$
  select case
    when g is null then null
    else st_transform(case when st_srid(g) = 0 then st_setsrid(g, srid) else g end, 4326)
  end
$$;

-- Every tile that resembles the query vector at least as much as the threshold says, best first. Exact, unless the table
-- is large, has an approximate index, a limit is given and nothing filters.
create function geoembeddings.search_vector(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = public, extensions, pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  approximate boolean := entry.approximate_index and not exact and result_limit is not null
    and label_name is null and spatial_filter is null;
  distance text := case
    when approximate then format('(t.embedding::halfvec(%s) <=> $1::halfvec(%s))', entry.dims, entry.dims)
    else '(t.embedding <=> $1::' || case when entry.level = 'patch' then 'halfvec' else 'vector' end || ')'
  end;
  filters text := '';
begin
  -- A vector of zeros has no direction, so nothing resembles it.
  if query_vector is null or vector_norm(query_vector) = 0 then
    return;
  end if;
  if label_name is not null then
    filters := filters || ' and t.label_name = $2';
  end if;
  if spatial_filter is not null then
    filters := filters || ' and st_intersects(t.geom, $3)';
  end if;
  if approximate then
    perform set_config('hnsw.iterative_scan', 'strict_order', true);
    perform set_config('hnsw.ef_search', least(1000, greatest(100, result_limit + coalesce(result_offset, 0)))::text, true);
  end if;
  -- The inner select is fenced by OFFSET 0, so that each distance is computed once. NaN, the distance of a zero vector, is
  -- greater than every number: the comparison with the threshold leaves it out.
  return query execute format(
    'select s.id, 1 - s.distance, %s, %s
     from (
       select c.id, c.distance
       from (select t.id, %s as distance from geoembeddings.%I t where true %s) c
       where c.distance <= 1 - $6 %s
     ) s %s
     order by s.distance, s.id',
    case when include_geom then 'st_transform(t.geom, $7)' else 'null::geometry' end,
    case when include_embeddings then 't.embedding::vector' else 'null::vector' end,
    distance, entry.table_name,
    filters || case when approximate then format(' order by %s limit $4 offset $5', distance) else ' offset 0' end,
    case when approximate then '' else 'order by c.distance, c.id limit $4 offset $5' end,
    case when include_geom or include_embeddings then format('join geoembeddings.%I t on t.id = s.id', entry.table_name) else '' end
  ) using query_vector, label_name, geoembeddings.as_4326(spatial_filter, srid), result_limit,
    coalesce(result_offset, 0), coalesce(similarity_threshold, 0), srid;
end
$$;

-- Mean direction of the tiles that a condition picks; null when it picks none.
create function geoembeddings.mean_vector(entry geoembeddings.embeddings_catalogue, area geometry) returns vector
language plpgsql stable
set search_path = public, extensions, pg_catalog, pg_temp
as $$
declare
  mean vector;
begin
  execute format(
    'select avg(l2_normalize(t.embedding::vector)) from geoembeddings.%I t
     where st_intersects(t.geom, $1) and vector_norm(t.embedding::vector) > 0', entry.table_name)
  into mean using area;
  return mean;
end
$$;

create function geoembeddings.check_page(result_limit integer, result_offset integer, similarity_threshold double precision) returns void
language plpgsql immutable
as $$
begin
  if result_limit < 0 or result_offset < 0 then
    raise exception using errcode = '22023', message = 'result_limit and result_offset must not be negative';
  end if;
  if similarity_threshold = 'NaN' then
    raise exception using errcode = '22023', message = 'similarity_threshold must be a number from -1 to 1';
  end if;
end
$$;

-- Tiles like one tile of the same table, that tile included.
create function geoembeddings.similarity_search(
  table_name text, patch_id bigint, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = public, extensions, pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  query_vector vector;
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  execute format('select t.embedding::vector from geoembeddings.%I t where t.id = $1', entry.table_name)
  into query_vector using patch_id;
  if query_vector is null then
    raise exception using errcode = 'PT404', message = format('embedding table "%s" has no row with id %s', table_name, patch_id),
      hint = 'Ids are row-major tile indices; tiles without enough valid pixels have no row.';
  end if;
  return query select * from geoembeddings.search_vector(entry, query_vector, label_name, similarity_threshold, result_limit,
    result_offset, include_geom, include_embeddings, spatial_filter, srid, exact);
end
$$;

-- Tiles like those at a point, or within a radius of it (unit m on the spheroid, or deg in the plane).
create function geoembeddings.similarity_search(
  table_name text, lon double precision, lat double precision, radius double precision default null, unit text default 'm',
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = public, extensions, pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  place geometry := geoembeddings.as_4326(st_setsrid(st_makepoint(lon, lat), srid), srid);
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  if lon is null or lat is null or radius < 0 or unit is null or unit not in ('m', 'deg') then
    raise exception using errcode = '22023', message = 'lon, lat, a radius of at least 0 and a unit of m or deg are needed';
  end if;
  if radius > 0 then
    place := case unit when 'm' then st_buffer(place::geography, radius)::geometry else st_buffer(place, radius) end;
  end if;
  return query select * from geoembeddings.search_vector(entry, geoembeddings.mean_vector(entry, place), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact);
end
$$;

-- Tiles like those that a polygon touches.
create function geoembeddings.similarity_search(
  table_name text, query_geometry geometry, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = public, extensions, pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  if query_geometry is null or st_isempty(query_geometry) then
    raise exception using errcode = '22023', message = 'query_geometry is empty';
  end if;
  return query select * from geoembeddings.search_vector(entry,
    geoembeddings.mean_vector(entry, geoembeddings.as_4326(query_geometry, srid)), label_name, similarity_threshold,
    result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact);
end
$$;

-- Two tables of the same model, or nothing can be compared.
create function geoembeddings.check_comparable(a geoembeddings.embeddings_catalogue, b geoembeddings.embeddings_catalogue) returns void
language plpgsql immutable
as $$
begin
  if a.model_name <> b.model_name or a.model_sha256 is distinct from b.model_sha256 or a.dims <> b.dims
    or a.level <> b.level or a.feature_names is distinct from b.feature_names then
    raise exception using errcode = '22023',
      message = format('tables "%s" (%s, %s dimensions) and "%s" (%s, %s dimensions) cannot be compared',
        a.table_name, a.model_name, a.dims, b.table_name, b.model_name, b.dims),
      hint = 'Make both tables with the same model.';
  end if;
end
$$;

-- Each tile of the first table beside the tile of the second that covers its middle (the nearest one by centroid when
-- several do).
create function geoembeddings.pair_tables(
  a geoembeddings.embeddings_catalogue, b geoembeddings.embeddings_catalogue, label_name text, include_geom boolean,
  include_embeddings boolean, spatial_filter geometry, srid integer
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = public, extensions, pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query execute format(
    'select x.id, 1 - (x.embedding <=> y.embedding) as similarity, %s, %s
     from geoembeddings.%I x
     cross join lateral (
       select t.embedding from geoembeddings.%I t
       where st_intersects(t.geom, st_centroid(x.geom))
       order by st_distance(st_centroid(t.geom), st_centroid(x.geom)), t.id limit 1
     ) y
     where (x.embedding <=> y.embedding) <= 2 %s %s',
    case when include_geom then 'st_transform(x.geom, $3)' else 'null::geometry' end,
    case when include_embeddings then 'x.embedding::vector' else 'null::vector' end,
    a.table_name, b.table_name,
    case when label_name is null then '' else 'and x.label_name = $1' end,
    case when spatial_filter is null then '' else 'and st_intersects(x.geom, $2)' end
  ) using label_name, geoembeddings.as_4326(spatial_filter, srid), srid;
end
$$;

-- How much each place of the first table looks like the same place in the second, most alike first.
create function geoembeddings.similarity_search(
  table_name_1 text, table_name_2 text, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = public, extensions, pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  a geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_1);
  b geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_2);
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  perform geoembeddings.check_comparable(a, b);
  return query
    select p.id, p.similarity, p.geom, p.embedding
    from geoembeddings.pair_tables(a, b, label_name, include_geom, include_embeddings, spatial_filter, srid) p
    where p.similarity >= coalesce(similarity_threshold, 0)
    order by p.similarity desc, p.id limit result_limit offset coalesce(result_offset, 0);
end
$$;

-- The same pairs, most changed first: change_score = 1 - similarity.
create function geoembeddings.change_detection(
  table_name_1 text, table_name_2 text, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326
) returns table (id bigint, change_score double precision, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = public, extensions, pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  a geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_1);
  b geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_2);
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  perform geoembeddings.check_comparable(a, b);
  return query
    select p.id, 1 - p.similarity, p.similarity, p.geom, p.embedding
    from geoembeddings.pair_tables(a, b, label_name, include_geom, include_embeddings, spatial_filter, srid) p
    where p.similarity >= coalesce(similarity_threshold, 0)
    order by p.similarity, p.id limit result_limit offset coalesce(result_offset, 0);
end
$$;

-- Drops an embedding table and its catalogue row. Returns the name.
create function geoembeddings.delete_embedding_table(p_table_name text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(p_table_name);
begin
  if not geoembeddings.can_write(entry.owner) then
    raise exception using errcode = '42501', message = format('embedding table "%s" is not yours to delete', p_table_name),
      hint = 'Use the service role key, or the token of the user who owns it.';
  end if;
  delete from geoembeddings.embeddings_catalogue c where c.table_name = p_table_name;
  execute format('drop table if exists geoembeddings.%I', p_table_name);
  return p_table_name;
end
$$;

-- The parts that trust their caller are not for clients.
revoke all on all functions in schema geoembeddings from public;
grant execute on function
  geoembeddings.caller_role(), geoembeddings.caller_id(), geoembeddings.can_read(uuid, boolean), geoembeddings.can_write(uuid),
  geoembeddings.similarity_search(text, bigint, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean),
  geoembeddings.similarity_search(text, double precision, double precision, double precision, text, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean),
  geoembeddings.similarity_search(text, geometry, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean),
  geoembeddings.similarity_search(text, text, text, double precision, integer, integer, boolean, boolean, geometry, integer),
  geoembeddings.change_detection(text, text, text, double precision, integer, integer, boolean, boolean, geometry, integer),
  geoembeddings.delete_embedding_table(text)
to anon, authenticated, service_role;
