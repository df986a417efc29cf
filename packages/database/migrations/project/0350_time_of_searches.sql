-- Searches in time: the newest look at a place, and times of rows where a table has them.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

drop function geoembeddings.search_by(geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean,
  boolean, geometry, integer, boolean, double precision, integer[]);
drop function geoembeddings.search_varied(geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean,
  boolean, geometry, integer, boolean, double precision, integer[]);
drop function geoembeddings.search_vector(geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean,
  boolean, geometry, integer, boolean, integer[]);
drop function geoembeddings.candidates(regclass, integer, text, vector, text, geometry, integer, integer[]);

-- Part of a table in time.
create type geoembeddings.time_part as (
  -- Conditions on a row `t` after `where true`; empty for all rows.
  rows text,
  -- Estimated share of the rows, 0 to 1.
  share double precision,
  -- Condition that no newer row of the part shows the place of a row `t`; null where every row counts.
  newest text
);

-- Whether rows of a table have a time of their own, as those of imported places have.
create function geoembeddings.has_row_times(target regclass) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_attribute a where a.attrelid = target and a.attname = 'datetime' and not a.attisdropped)
$$;

-- The share of a table's rows with a time of their own in a range, by the statistics that ANALYZE gathered.
create function geoembeddings.share_of_times(entry geoembeddings.embeddings_catalogue, since timestamptz, until timestamptz)
returns double precision
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((
    select coalesce(c.within, 0) + (1 - s.null_frac - coalesce(c.total, 0)) * coalesce(h.within, 0)
    from pg_stats s
    cross join lateral (
      select sum(m.freq) as total, sum(m.freq) filter (where m.val >= coalesce(since, '-infinity') and m.val <= coalesce(until, 'infinity')) as within
      from unnest(s.most_common_vals::text::timestamptz[], s.most_common_freqs) m(val, freq)) c
    cross join lateral (
      select avg((b >= coalesce(since, '-infinity') and b <= coalesce(until, 'infinity'))::int)::double precision as within
      from unnest(s.histogram_bounds::text::timestamptz[]) b) h
    where s.schemaname = 'geoembeddings' and s.tablename = entry.table_name and s.attname = 'datetime'), 1)
$$;

-- The part of a table in a time (inclusive) and of some sources. With `latest` a row counts if no newer one shows its place: two rows
-- show one place when they share half of the ground of both, and then the middle of one lies in the other. Rows without a time are
-- older than all others; of one time the row with the greater id is newer.
create function geoembeddings.part_in_time(
  entry geoembeddings.embeddings_catalogue, since timestamptz, until timestamptz, sources integer[], latest boolean
) returns geoembeddings.time_part
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  by_row boolean := geoembeddings.has_row_times(to_regclass(format('geoembeddings.%I', entry.table_name)));
  chosen integer[] := geoembeddings.sources_in(entry, case when by_row then null else since end, case when by_row then null else until end,
    sources);
  part geoembeddings.time_part;
  newer text := '(coalesce(o.datetime, ''-infinity''), o.id) > (coalesce(t.datetime, ''-infinity''), t.id)';
begin
  part.rows := geoembeddings.rows_of_sources(chosen);
  part.share := geoembeddings.share_of_sources(entry, chosen);
  if by_row and num_nonnulls(since, until) > 0 then
    part.rows := format('%s and t.datetime >= %L and t.datetime <= %L', part.rows, coalesce(since, '-infinity'), coalesce(until, 'infinity'));
    part.share := part.share * geoembeddings.share_of_times(entry, since, until);
  end if;
  if latest then
    if not by_row then
      select format('array_position(%1$L::integer[], (o.id >> 32)::integer) > array_position(%1$L::integer[], (t.id >> 32)::integer)',
        array_agg(s.source order by s.datetime nulls first, s.source))
      into newer from geoembeddings.list_sources(entry.table_name) s;
    end if;
    part.newest := format(
      'not exists (select from (select * from geoembeddings.%I t where true %s) o
         where o.geom && %s and %s and (o.geom ~= t.geom or geoembeddings.overlap_of(o.geom, t.geom) >= 0.5))',
      entry.table_name, part.rows,
      -- The parts of a footprint at the antimeridian have their middle elsewhere.
      'case when st_numgeometries(t.geom) > 1 then t.geom else st_centroid(t.geom) end', newer);
  end if;
  return part;
end
$$;

-- Ids of the rows near a vector, by the index of a table. There are several times more than wanted, because the caller ranks
-- them again by full precision. Null when the index returns fewer rows than wanted. Boxes are compared before shapes, at a
-- tenth of the cost. Compiling the query (jit) would take longer than it runs.
create function geoembeddings.candidates(
  target regclass, dims integer, metric text, query_vector vector, label_name text, area geometry, wanted integer,
  part geoembeddings.time_part default null
) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
-- Without it the planner sorts what the indexes of areas and labels find, after a look at each geometry: three times as slow as the
-- exact scan where the filter keeps a tenth.
set enable_sort = off
as $$
declare
  about jsonb := (
    select obj_description(i.indexrelid, 'pg_class')::jsonb
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
    where i.indrelid = target and a.amname = 'hnsw' order by i.indexrelid limit 1);
  kind text := coalesce(about ->> 'kind', 'halfvec');
  filtered boolean := label_name is not null or area is not null or coalesce(part.rows, '') <> '';
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
    'select array_agg(t.id) from (select t.id, t.geom %s from %s t where true %s %s %s order by (%s) %s (%s) limit $4) t where %s',
    case when part.newest is not null and geoembeddings.has_row_times(target) then ', t.datetime' else '' end,
    target,
    case when label_name is null then '' else 'and t.label_name = $2' end,
    case when area is null then '' else 'and t.geom && $3 and st_intersects(t.geom, $3)' end,
    coalesce(part.rows, ''),
    geoembeddings.indexed_expression(kind, about ->> 'center', dims, 't.embedding'),
    case when kind = 'bit' then '<~>' when metric = 'l2' then '<->' else '<=>' end,
    geoembeddings.indexed_expression(kind, about ->> 'center', dims, '$1'),
    coalesce(part.newest, 'true'))
  into chosen using query_vector, label_name, area, fetched;
  return case when cardinality(chosen) >= wanted then chosen end;
end
$$;

-- Every tile that resembles the query vector at least as much as the threshold says, best first, by the metric of its
-- table. Exact where that is likely to be sooner, or no limit is given: a distance costs less than a look whether a tile meets an
-- area or is the newest of its place, so rows are ordered first and looked at until the page is full. Otherwise the index gives some
-- times the rows that are wanted by an iterative scan, and they are ranked again in full precision: recall is lost by stopping early,
-- not by the order of the graph. Where the index runs out before, the exact scan answers.
create function geoembeddings.search_vector(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, part geoembeddings.time_part
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
    entry, geoembeddings.estimate_rows(entry, label_name, area) * part.share, wanted,
    label_name is not null or area is not null or part.rows <> '', label_name is not null and area is null);
  operator text := case entry.metric when 'l2' then '<->' else '<=>' end;
  threshold double precision := coalesce(similarity_threshold, 0);
  filters text := case when label_name is null then '' else ' and t.label_name = $2' end
    || case when area is null then '' else ' and t.geom && $3' end || ' ' || part.rows;
  chosen bigint[];
  page text := 'limit $4 offset $5';
  -- Conditions that rows are looked at for, nearest first; null where there are none.
  to_look_at text;
begin
  -- A vector of zeros has no direction, so nothing resembles it.
  if query_vector is null or (entry.metric = 'cosine' and vector_norm(query_vector) = 0) then
    return;
  end if;
  if approximate then
    chosen := geoembeddings.candidates(format('geoembeddings.%I', entry.table_name)::regclass, entry.dims, entry.metric,
      query_vector, label_name, area, wanted, part);
  end if;
  if chosen is null then
    to_look_at := concat_ws(' and ', case when area is not null then 'st_intersects(t.geom, $3)' end, part.newest);
  end if;
  to_look_at := nullif(to_look_at, '');
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
    case when to_look_at is not null then 'offset 0' else page end,
    case when to_look_at is not null
      then format('and (select %s from geoembeddings.%I t where t.id = c.id) %s', to_look_at, entry.table_name, page)
      else '' end,
    case when include_geom or include_embeddings then format('join geoembeddings.%I t on t.id = s.id', entry.table_name) else '' end
  ) using query_vector, label_name, area, result_limit, coalesce(result_offset, 0),
    -- A similarity of 1 / (1 + distance) is above 0 at every distance.
    case when entry.metric = 'cosine' then 1 - threshold
      when threshold <= 0 then 1e308 else 1 / threshold - 1 end, srid, entry.metric, chosen;
end
$$;

-- Rows of a search that are unlike each other (maximal marginal relevance, Carbonell and Goldstein 1998): of
-- the 200 best rows the next is always the one with the greatest
-- (1 - variety) * similarity - variety * (its similarity to the most similar row chosen before).
create function geoembeddings.search_varied(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, variety double precision, part geoembeddings.time_part
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
  -- For each candidate, its similarity to the most similar row chosen so far; null once it is chosen itself.
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

-- Rows that a search by a vector answers with, however the vector was made.
create function geoembeddings.search_by(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, variety double precision, part geoembeddings.time_part
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

-- Functions that clients call stay: each takes its part by the times of rows, too.
do $$
declare
  body text;
begin
  for body in
    select replace(pg_get_functiondef(p.oid), 'geoembeddings.sources_in(entry, since, until, sources)',
      'geoembeddings.part_in_time(entry, since, until, sources, false)')
    from pg_proc p
    where p.pronamespace = 'geoembeddings'::regnamespace and p.proname = 'similarity_search' and p.prosrc like '%geoembeddings.sources_in(%'
  loop
    execute body;
  end loop;
end
$$;

-- Tiles like a tile (that one included), those at a point or within a radius of it (unit m on the spheroid, or deg in the plane), those that
-- a geometry touches, a vector of the same model, or examples: {"table": [id, ...]} of this table and others that compare with it, or ids
-- of one table. The arguments name one of these queries. With `farthest` the most unlike tiles come first, without a threshold: they are
-- those nearest to the opposite direction, which an index of near rows leads to badly, so every row is compared.
create function geoembeddings.similarity_search(
  table_name text, latest boolean, patch_id bigint default null, query_embedding vector default null, query_geometry geometry default null,
  lon double precision default null, lat double precision default null, radius double precision default null, unit text default 'm',
  positive jsonb default null, negative jsonb default null,
  positive_ids bigint[] default null, negative_ids bigint[] default null, examples_table text default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null,
  farthest boolean default false
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  examples text := coalesce(examples_table, table_name);
  place geometry;
  query_vector vector;
begin
  if num_nonnulls(patch_id, query_embedding, query_geometry, coalesce(lon, lat), positive, positive_ids) <> 1
    or (negative is not null and positive is null) or (num_nonnulls(negative_ids, examples_table) > 0 and positive_ids is null) then
    raise exception using errcode = '22023',
      message = 'one of patch_id, query_embedding, query_geometry, lon with lat, positive and positive_ids is needed',
      hint = 'negative goes with positive, negative_ids and examples_table go with positive_ids.';
  end if;
  if patch_id is not null then
    query_vector := geoembeddings.vector_of_row(entry, patch_id);
  elsif query_embedding is not null then
    query_vector := geoembeddings.check_vector(entry, query_embedding);
  elsif positive is not null then
    query_vector := geoembeddings.vector_of_examples(entry, positive, negative);
  elsif positive_ids is not null then
    query_vector := geoembeddings.vector_of_examples(entry, jsonb_build_object(examples, to_jsonb(positive_ids)),
      case when negative_ids is not null then jsonb_build_object(examples, to_jsonb(negative_ids)) end);
  elsif query_geometry is not null then
    if st_isempty(query_geometry) then
      raise exception using errcode = '22023', message = 'query_geometry is empty';
    end if;
    query_vector := geoembeddings.mean_vector(entry, geoembeddings.as_4326(query_geometry, srid));
  else
    if num_nonnulls(lon, lat) < 2 or radius < 0 or unit is null or unit not in ('m', 'deg') then
      raise exception using errcode = '22023', message = 'lon, lat, a radius of at least 0 and a unit of m or deg are needed';
    end if;
    place := geoembeddings.as_4326(st_setsrid(st_makepoint(lon, lat), srid), srid);
    if radius > 0 then
      place := case unit when 'm' then st_buffer(place::geography, radius)::geometry else st_buffer(place, radius) end;
    end if;
    query_vector := geoembeddings.mean_vector(entry, place);
  end if;
  if farthest and entry.metric = 'l2' then
    raise exception using errcode = '22023',
      message = format('embedding table "%s" is compared by distance and has no opposite directions', entry.table_name),
      hint = 'Leave farthest out.';
  end if;
  return query select s.id, case when farthest then -s.similarity else s.similarity end, s.geom, s.embedding
  from geoembeddings.search_by(entry, case when farthest then query_vector * array_fill(-1::real, array[entry.dims])::vector else query_vector end,
    label_name, case when farthest then -1 else similarity_threshold end, result_limit, result_offset, include_geom,
    include_embeddings, spatial_filter, srid, exact or coalesce(farthest, false), variety,
    geoembeddings.part_in_time(entry, since, until, sources, latest)) s;
end
$$;

-- The same without a word about `latest`.
create function geoembeddings.similarity_search(
  table_name text, farthest boolean, patch_id bigint default null, query_embedding vector default null, query_geometry geometry default null,
  lon double precision default null, lat double precision default null, radius double precision default null, unit text default 'm',
  positive jsonb default null, negative jsonb default null,
  positive_ids bigint[] default null, negative_ids bigint[] default null, examples_table text default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language sql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
  select * from geoembeddings.similarity_search(table_name, false, patch_id, query_embedding, query_geometry, lon, lat, radius,
    unit, positive, negative, positive_ids, negative_ids, examples_table, label_name, similarity_threshold, result_limit,
    result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety, since, until, sources, farthest)
$$;

-- How many rows resemble a query, and how much: in all, in an area, or per tile of the web map at a zoom (`cells`), by the
-- middle of each row's footprint. The query is one of patch_id, query_embedding and positive (with negative). Compares every
-- row. `matches` resemble it at least as much as the threshold says; the similarities are those of the matches.
create function geoembeddings.similarity_summary(
  table_name text, latest boolean, patch_id bigint default null, query_embedding vector default null, positive jsonb default null,
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
  part geoembeddings.time_part := geoembeddings.part_in_time(entry, since, until, sources, latest);
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
    part.rows || coalesce(' and ' || part.newest, ''),
    case when cells is null then 'null::text' else 'format(''%s/%s/%s'', $8, c.x, c.y)' end,
    case when include_geom and cells is not null then 'st_transform(st_tileenvelope($8, c.x, c.y), $9)'
      when include_geom and area is not null then 'st_transform($4, $9)' else 'null::geometry' end
  ) using entry.metric, query_vector, label_name, geoembeddings.as_4326(area, srid), coalesce(similarity_threshold, 0),
    result_limit, coalesce(result_offset, 0), cells, srid;
end
$$;

-- The same of all dates.
create or replace function geoembeddings.similarity_summary(
  table_name text, patch_id bigint default null, query_embedding vector default null, positive jsonb default null,
  negative jsonb default null, similarity_threshold double precision default 0.0, area geometry default null,
  cells integer default null, label_name text default null, result_limit integer default 1000, result_offset integer default 0,
  include_geom boolean default false, srid integer default 4326,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (
  cell text, row_count bigint, matches bigint, mean_similarity double precision, best_similarity double precision,
  best_id bigint, geom geometry
)
language sql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
  select * from geoembeddings.similarity_summary(table_name, false, patch_id, query_embedding, positive, negative,
    similarity_threshold, area, cells, label_name, result_limit, result_offset, include_geom, srid, since, until, sources)
$$;
