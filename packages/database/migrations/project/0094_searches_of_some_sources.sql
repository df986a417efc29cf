-- Searches of some sources of a table: those of a time, or by number. Null stands for all of them.
set local search_path = public, extensions;

-- The sources of a table in a time (inclusive) and by number; null where nothing is asked.
create function geoembeddings.sources_in(
  entry geoembeddings.embeddings_catalogue, since timestamptz, until timestamptz, sources integer[]
) returns integer[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when num_nonnulls(since, until, sources) > 0 then coalesce(array_agg(s.source order by s.source), '{}') end
  from geoembeddings.list_sources(entry.table_name) s
  where num_nonnulls(since, until, sources) > 0 and (since is null or s.datetime >= since) and (until is null or s.datetime <= until)
    and (sources is null or s.source = any(sources))
$$;

-- The condition that a row `t` is of some sources, by ranges of ids, which the primary key knows.
create function geoembeddings.rows_of_sources(part integer[]) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when part is null then '' else 'and (' || coalesce((
    select string_agg(format('t.id >= %s and t.id < %s', r.first::bigint << 32, (r.last + 1)::bigint << 32), ' or ' order by r.first)
    from (
      select min(n.source) as first, max(n.source) as last
      from (select s.source, s.source - row_number() over (order by s.source) as run
            from (select distinct unnest(part) as source) s) n
      group by n.run
    ) r), 'false') || ')' end
$$;

-- The part of a table's rows that its sources hold, 0 to 1.
create function geoembeddings.share_of_sources(entry geoembeddings.embeddings_catalogue, part integer[])
returns double precision
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when part is null then 1 else coalesce((
    select least(1, sum(s.rows)::double precision / nullif(entry.rows, 0)) from geoembeddings.list_sources(entry.table_name) s
    where s.source = any(part)), 0) end
$$;

drop function geoembeddings.candidates(regclass, integer, text, vector, text, geometry, integer);

-- As before, of some sources.
create function geoembeddings.candidates(
  target regclass, dims integer, metric text, query_vector vector, label_name text, area geometry, wanted integer, part integer[] default null
) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
-- As 0090 has it: left to itself the planner sorts what other indexes find.
set enable_sort = off
as $$
declare
  about jsonb := (
    select obj_description(i.indexrelid, 'pg_class')::jsonb
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
    where i.indrelid = target and a.amname = 'hnsw' order by i.indexrelid limit 1);
  kind text := coalesce(about ->> 'kind', 'halfvec');
  filtered boolean := label_name is not null or area is not null or part is not null;
  fetched integer := geoembeddings.fetched_rows(wanted, filtered, kind);
  chosen bigint[];
begin
  perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  perform set_config('hnsw.ef_search', case
    when kind = 'bit' then least(1000, fetched)
    else least(1000, greatest(case when filtered then 400 else 200 end, wanted)) end::text, true);
  perform set_config('hnsw.max_scan_tuples', '60000', true);
  perform set_config('hnsw.scan_mem_multiplier', '8', true);
  execute format(
    'select array_agg(c.id) from (select t.id from %s t where true %s %s %s order by (%s) %s (%s) limit $4) c',
    target,
    case when label_name is null then '' else 'and t.label_name = $2' end,
    case when area is null then '' else 'and t.geom && $3 and st_intersects(t.geom, $3)' end,
    geoembeddings.rows_of_sources(part),
    geoembeddings.indexed_expression(kind, about ->> 'center', dims, 't.embedding'),
    case when kind = 'bit' then '<~>' when metric = 'l2' then '<->' else '<=>' end,
    geoembeddings.indexed_expression(kind, about ->> 'center', dims, '$1'))
  into chosen using query_vector, label_name, area, fetched;
  return case when cardinality(chosen) >= wanted then chosen end;
end
$$;

drop function geoembeddings.search_vector(
  geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean);

-- As before, of some sources.
create function geoembeddings.search_vector(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, part integer[]
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  wanted integer := result_limit + coalesce(result_offset, 0);
  area geometry := geoembeddings.as_4326(spatial_filter, srid);
  approximate boolean := entry.approximate_index and not exact and wanted <= 1000 and geoembeddings.index_is_faster(
    entry, geoembeddings.estimate_rows(entry, label_name, area) * geoembeddings.share_of_sources(entry, part), wanted,
    label_name is not null or area is not null or part is not null, label_name is not null and area is null);
  operator text := case entry.metric when 'l2' then '<->' else '<=>' end;
  threshold double precision := coalesce(similarity_threshold, 0);
  filters text := case when label_name is null then '' else ' and t.label_name = $2' end
    || case when area is null then '' else ' and t.geom && $3' end
    || ' ' || geoembeddings.rows_of_sources(part);
  chosen bigint[];
  page text := 'limit $4 offset $5';
  -- Whether rows are still to be looked at for the area.
  to_look_at boolean;
begin
  -- A vector of zeros has no direction, so nothing resembles it.
  if query_vector is null or (entry.metric = 'cosine' and vector_norm(query_vector) = 0) then
    return;
  end if;
  if approximate then
    chosen := geoembeddings.candidates(format('geoembeddings.%I', entry.table_name)::regclass, entry.dims, entry.metric,
      query_vector, label_name, area, wanted, part);
  end if;
  to_look_at := chosen is null and area is not null;
  -- What is nearer than the threshold comes first, so a page may be cut before the threshold is looked at, and each distance is
  -- computed once. NaN, the distance of a zero vector, is greater than every number: it comes last and is left out.
  return query execute format(
    'select s.id, geoembeddings.as_similarity(s.distance, $8), %s, %s
     from (
       select c.id, c.distance
       from (
         select t.id, (t.embedding %s $1::%s) as distance from geoembeddings.%I t where %s
         order by distance, t.id %s
       ) c
       where c.distance <= $6 %s
     ) s %s
     order by s.distance, s.id',
    case when include_geom then 'st_transform(t.geom, $7)' else 'null::geometry' end,
    case when include_embeddings then 't.embedding::vector' else 'null::vector' end,
    operator, case when entry.level = 'patch' then 'halfvec' else 'vector' end, entry.table_name,
    case when chosen is null then 'true' || filters else 't.id = any($9)' end,
    case when to_look_at then 'offset 0' else page end,
    case when to_look_at
      then format('and (select st_intersects(a.geom, $3) from geoembeddings.%I a where a.id = c.id) %s', entry.table_name, page)
      else '' end,
    case when include_geom or include_embeddings then format('join geoembeddings.%I t on t.id = s.id', entry.table_name) else '' end
  ) using query_vector, label_name, area, result_limit, coalesce(result_offset, 0),
    -- A similarity of 1 / (1 + distance) is above 0 at every distance.
    case when entry.metric = 'cosine' then 1 - threshold
      when threshold <= 0 then 1e308 else 1 / threshold - 1 end, srid, entry.metric, chosen;
end
$$;

drop function geoembeddings.search_varied(
  geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean,
  double precision);

-- As before, of some sources.
create function geoembeddings.search_varied(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, variety double precision, part integer[]
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  wanted integer := result_limit + coalesce(result_offset, 0);
  ids bigint[];
  vectors vector[];
  similarities double precision[];
  -- The similarity of each candidate to the most similar chosen one; null for those that are chosen.
  nearest double precision[];
  chosen integer[] := '{}';
  next integer;
begin
  select array_agg(s.id), array_agg(s.embedding), array_agg(s.similarity), array_agg(0::double precision)
  into ids, vectors, similarities, nearest
  from geoembeddings.search_vector(entry, query_vector, label_name, similarity_threshold, 200, 0, false, true,
    spatial_filter, srid, exact, part) s;
  while cardinality(chosen) < least(wanted, coalesce(cardinality(ids), 0)) loop
    select n into next
    from unnest(similarities, nearest) with ordinality c(s, near, n)
    where near is not null
    order by (1 - variety) * s - variety * near desc, n limit 1;
    chosen := chosen || next;
    select array_agg(case when n = next or near is null then null
      else greatest(case when cardinality(chosen) = 1 then -1 else near end,
        geoembeddings.as_similarity(case entry.metric when 'l2' then v <-> vectors[next] else v <=> vectors[next] end,
          entry.metric)) end order by n)
    into nearest
    from unnest(vectors, nearest) with ordinality c(v, near, n);
  end loop;
  return query execute format(
    'select $1[c.n], $2[c.n], %s, %s
     from unnest($4[$5 + 1:]) with ordinality c(n, place) %s order by c.place',
    case when include_geom then 'st_transform(t.geom, $6)' else 'null::geometry' end,
    case when include_embeddings then '$3[c.n]' else 'null::vector' end,
    case when include_geom then format('join geoembeddings.%I t on t.id = $1[c.n]', entry.table_name) else '' end
  ) using ids, similarities, vectors, chosen, coalesce(result_offset, 0), srid;
end
$$;

drop function geoembeddings.search_by(
  geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean,
  double precision);

-- As before, of some sources.
create function geoembeddings.search_by(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, variety double precision, part integer[]
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  if coalesce(variety, 0) = 0 then
    return query select * from geoembeddings.search_vector(entry, query_vector, label_name, similarity_threshold, result_limit,
      result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, part);
    return;
  end if;
  if not variety between 0 and 1 then
    raise exception using errcode = '22023', message = 'variety must be a number from 0 to 1';
  end if;
  if coalesce(result_limit + coalesce(result_offset, 0) > 100, true) then
    raise exception using errcode = '22023', message = 'a search with variety needs a result_limit, with result_offset at most 100',
      hint = 'Leave variety out to page through all rows.';
  end if;
  return query select * from geoembeddings.search_varied(entry, query_vector, label_name, similarity_threshold, result_limit,
    result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety, part);
end
$$;

do $$
declare
  search regprocedure;
begin
  for search in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'geoembeddings'
      and (p.proname = 'similarity_summary' or p.proname = 'similarity_search' and 'table_name' = any(p.proargnames))
  loop
    execute format('drop function %s', search);
  end loop;
end
$$;

-- Tiles like one tile of the same table, that tile included.
create function geoembeddings.similarity_search(
  table_name text, patch_id bigint, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  return query select * from geoembeddings.search_by(entry, geoembeddings.vector_of_row(entry, patch_id), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- Tiles like those at a point, or within a radius of it (unit m on the spheroid, or deg in the plane).
create function geoembeddings.similarity_search(
  table_name text, lon double precision, lat double precision, radius double precision default null, unit text default 'm',
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  place geometry := geoembeddings.as_4326(st_setsrid(st_makepoint(lon, lat), srid), srid);
begin
  if lon is null or lat is null or radius < 0 or unit is null or unit not in ('m', 'deg') then
    raise exception using errcode = '22023', message = 'lon, lat, a radius of at least 0 and a unit of m or deg are needed';
  end if;
  if radius > 0 then
    place := case unit when 'm' then st_buffer(place::geography, radius)::geometry else st_buffer(place, radius) end;
  end if;
  return query select * from geoembeddings.search_by(entry, geoembeddings.mean_vector(entry, place), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- Tiles like those that a polygon touches.
create function geoembeddings.similarity_search(
  table_name text, query_geometry geometry, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  if query_geometry is null or st_isempty(query_geometry) then
    raise exception using errcode = '22023', message = 'query_geometry is empty';
  end if;
  return query select * from geoembeddings.search_by(entry,
    geoembeddings.mean_vector(entry, geoembeddings.as_4326(query_geometry, srid)), label_name, similarity_threshold,
    result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- Tiles like a vector that the caller brings, of the same model.
create function geoembeddings.similarity_search(
  table_name text, query_embedding vector, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  return query select * from geoembeddings.search_by(entry, geoembeddings.check_vector(entry, query_embedding), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- Tiles like some examples and unlike others: {"table": [id, …]}, of this table and others that compare with it.
create function geoembeddings.similarity_search(
  table_name text, positive jsonb, negative jsonb default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  return query select * from geoembeddings.search_by(entry, geoembeddings.vector_of_examples(entry, positive, negative),
    label_name, similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact,
    variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- The same with examples of one table.
create function geoembeddings.similarity_search(
  table_name text, positive_ids bigint[], negative_ids bigint[] default null, examples_table text default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  examples text := coalesce(examples_table, table_name);
begin
  return query select * from geoembeddings.search_by(entry,
    geoembeddings.vector_of_examples(entry, jsonb_build_object(examples, to_jsonb(positive_ids)),
      case when negative_ids is not null then jsonb_build_object(examples, to_jsonb(negative_ids)) end),
    label_name, similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact,
    variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- How many rows resemble a query, and how much: in all, in an area, or per tile of the web map at a zoom (`cells`), by the
-- middle of each row's footprint. The query is one of patch_id, query_embedding and positive (with negative). Compares every
-- row. `matches` resemble it at least as much as the threshold says; the similarities are those of the matches.
create function geoembeddings.similarity_summary(
  table_name text, patch_id bigint default null, query_embedding vector default null, positive jsonb default null,
  negative jsonb default null, similarity_threshold double precision default 0.0, area geometry default null,
  cells integer default null, label_name text default null, result_limit integer default 1000, result_offset integer default 0,
  include_geom boolean default false, srid integer default 4326,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (
  cell text, row_count bigint, matches bigint, mean_similarity double precision, best_similarity double precision,
  best_id bigint, geom geometry
)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  query_vector vector;
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  if num_nonnulls(patch_id, query_embedding, positive) <> 1 or (negative is not null and positive is null) then
    raise exception using errcode = '22023', message = 'one of patch_id, query_embedding and positive is needed',
      hint = 'negative goes with positive.';
  end if;
  if cells not between 0 and 22 then
    raise exception using errcode = '22023', message = 'cells must be a zoom from 0 to 22';
  end if;
  query_vector := case
    when patch_id is not null then geoembeddings.vector_of_row(entry, patch_id)
    when query_embedding is not null then geoembeddings.check_vector(entry, query_embedding)
    else geoembeddings.vector_of_examples(entry, positive, negative) end;
  return query execute format(
    'with compared as (
       select r.id, r.x, r.y, geoembeddings.as_similarity(r.distance, $1) as similarity
       from (
         select t.id, (t.embedding %s $2::%s)::double precision as distance, %s
         from geoembeddings.%I t where true %s %s %s offset 0
       ) r
     ), counted as (
       select c.x, c.y, count(*) as row_count, count(*) filter (where c.similarity >= $5 and c.similarity < ''NaN'') as matches,
         avg(c.similarity) filter (where c.similarity >= $5 and c.similarity < ''NaN'') as mean_similarity,
         max(c.similarity) filter (where c.similarity >= $5 and c.similarity < ''NaN'') as best_similarity,
         (array_agg(c.id order by c.similarity desc, c.id) filter (where c.similarity >= $5 and c.similarity < ''NaN''))[1]
           as best_id
       from compared c group by c.x, c.y
     )
     select %s, c.row_count, c.matches, c.mean_similarity, c.best_similarity, c.best_id, %s
     from counted c order by c.matches desc, c.x, c.y limit $6 offset $7',
    case entry.metric when 'l2' then '<->' else '<=>' end,
    case when entry.level = 'patch' then 'halfvec' else 'vector' end,
    case when cells is null then 'null::integer as x, null::integer as y' else
      'least((1 << $8) - 1, floor((st_x(st_centroid(t.geom)) + 180) / 360 * (1 << $8)))::integer as x,
       greatest(0, least((1 << $8) - 1, floor((1 - asinh(tan(radians(
         greatest(-85.05112877, least(85.05112877, st_y(st_centroid(t.geom))))))) / pi()) / 2 * (1 << $8))))::integer as y' end,
    entry.table_name,
    case when label_name is null then '' else 'and t.label_name = $3' end,
    case when area is null then '' else 'and st_intersects(t.geom, $4)' end,
    geoembeddings.rows_of_sources(geoembeddings.sources_in(entry, since, until, sources)),
    case when cells is null then 'null::text' else 'format(''%s/%s/%s'', $8, c.x, c.y)' end,
    case when include_geom and cells is not null then 'st_transform(st_tileenvelope($8, c.x, c.y), $9)'
      when include_geom and area is not null then 'st_transform($4, $9)' else 'null::geometry' end
  ) using entry.metric, query_vector, label_name, geoembeddings.as_4326(area, srid), coalesce(similarity_threshold, 0),
    result_limit, coalesce(result_offset, 0), cells, srid;
end
$$;

revoke all on all functions in schema geoembeddings from public;
do $$
declare
  search regprocedure;
begin
  for search in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'geoembeddings' and p.proname in ('similarity_search', 'similarity_summary')
  loop
    execute format('grant execute on function %s to anon, authenticated, service_role', search);
  end loop;
end
$$;
