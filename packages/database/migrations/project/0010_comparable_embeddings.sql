-- Tables compare only where the same pixels would have given the same vectors; change is every pair of them.
set local search_path = public, extensions;

-- How pixels became the numbers that a model saw, reduced to what must agree: the unit, and the range per channel that
-- became 0 to 1, in physical values. How the range was found (origin), and how a file stored it, do not matter.
create function geoembeddings.stretch_key(scale jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when jsonb_typeof(scale) = 'object' then
    jsonb_build_object('unit', coalesce(scale -> 'unit', '"scaled"'), 'decibels', coalesce(scale -> 'decibels', 'false'),
      'min', scale -> 'min', 'max', scale -> 'max')
  end
$$;

-- What the channels of a table are: their names where the raster or its profile names all of them, else the indices.
create function geoembeddings.channel_key(entry geoembeddings.embeddings_catalogue, by_name boolean) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when by_name then entry.scale ->> 'channels' else entry.bands::text end
$$;

-- One line about a stretch, for errors.
create function geoembeddings.describe_stretch(entry geoembeddings.embeddings_catalogue) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when entry.scale is null or jsonb_typeof(entry.scale) <> 'object' then 'no stretch' else
    format('%s%s, bands %s, min %s, max %s, %s',
      coalesce(entry.scale ->> 'origin', 'unknown origin'),
      coalesce(' of profile ' || (entry.scale ->> 'profile'), ''),
      coalesce(entry.scale ->> 'channels', entry.bands::text, 'unknown'),
      entry.scale ->> 'min', entry.scale ->> 'max', coalesce(entry.scale ->> 'unit', 'scaled')) end
$$;

-- Two tables whose vectors mean the same, or nothing can be compared.
create or replace function geoembeddings.check_comparable(
  a geoembeddings.embeddings_catalogue, b geoembeddings.embeddings_catalogue
) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  by_name boolean := jsonb_typeof(a.scale -> 'channels') = 'array' and jsonb_typeof(b.scale -> 'channels') = 'array';
begin
  if a.model_name <> b.model_name or a.model_sha256 is distinct from b.model_sha256 or a.dims <> b.dims
    or a.level <> b.level or a.metric <> b.metric or a.feature_names is distinct from b.feature_names then
    raise exception using errcode = '22023',
      message = format('tables "%s" (%s, %s dimensions, level %s, %s) and "%s" (%s, %s dimensions, level %s, %s) cannot be compared',
        a.table_name, a.model_name, a.dims, a.level, a.metric, b.table_name, b.model_name, b.dims, b.level, b.metric),
      hint = 'Make both tables with the same model.';
  end if;
  if a.metric = 'l2' and a.normalized <> b.normalized then
    raise exception using errcode = '22023',
      message = format('tables "%s" (normalized: %s) and "%s" (normalized: %s) cannot be compared by l2',
        a.table_name, a.normalized, b.table_name, b.normalized),
      hint = 'Make both tables with the same normalizeEmbeddings.';
  end if;
  if geoembeddings.stretch_key(a.scale) is distinct from geoembeddings.stretch_key(b.scale)
    or geoembeddings.channel_key(a, by_name) is distinct from geoembeddings.channel_key(b, by_name) then
    raise exception using errcode = '22023',
      message = format('tables "%s" and "%s" saw their pixels differently and cannot be compared',
        a.table_name, b.table_name),
      detail = format('"%s": %s. "%s": %s.', a.table_name, geoembeddings.describe_stretch(a),
        b.table_name, geoembeddings.describe_stretch(b)),
      hint = format('Make one of them anew with "scaleFrom": {"table": "%s"} or {"table": "%s"}, or both with one profile or one scale.',
        a.table_name, b.table_name);
  end if;
end
$$;

drop function geoembeddings.pair_tables(
  geoembeddings.embeddings_catalogue, geoembeddings.embeddings_catalogue, text, boolean, boolean, geometry, integer);

-- From a distance to what clients see: the cosine, or 1 / (1 + distance) for l2; 1 is equal in both.
create function geoembeddings.as_similarity(distance double precision, metric text) returns double precision
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select case metric when 'l2' then 1 / (1 + distance) else 1 - distance end $$;

-- Each tile of the first table beside the tile of the second that it shares the most ground with: the same tile where
-- both have one grid. `overlap` is the shared part of the first tile, 0 to 1. Vectors of zeros have no cosine: no pair.
create function geoembeddings.pair_tables(
  a geoembeddings.embeddings_catalogue, b geoembeddings.embeddings_catalogue, label_name text, spatial_filter geometry,
  srid integer
) returns table (id bigint, distance double precision, overlap double precision, first vector, second vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_column
begin
  return query execute format(
    'select x.id, p.distance, y.overlap, x.embedding::vector, y.embedding::vector
     from geoembeddings.%I x
     cross join lateral (
       select c.embedding, c.overlap from (
         (select t.embedding, t.id, 1::double precision as overlap
          from geoembeddings.%I t where t.geom ~= x.geom order by t.id limit 1)
         union all
         select t.embedding, t.id,
           least(1, st_area(st_intersection(t.geom, x.geom)) / nullif(st_area(x.geom), 0)) as overlap
         from geoembeddings.%I t
         where not exists (select from geoembeddings.%I s where s.geom ~= x.geom) and st_intersects(t.geom, x.geom)
       ) c
       where c.overlap > 0
       order by c.overlap desc, c.id limit 1
     ) y
     cross join lateral (select (x.embedding %s y.embedding)::double precision as distance) p
     where p.distance < ''NaN'' %s %s',
    a.table_name, b.table_name, b.table_name, b.table_name,
    case a.metric when 'l2' then '<->' else '<=>' end,
    case when label_name is null then '' else 'and x.label_name = $1' end,
    case when spatial_filter is null then '' else 'and st_intersects(x.geom, $2)' end
  ) using label_name, geoembeddings.as_4326(spatial_filter, srid);
end
$$;

-- How much each place of the first table looks like the same place in the second, most alike first.
create or replace function geoembeddings.similarity_search(
  table_name_1 text, table_name_2 text, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  a geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_1);
  b geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_2);
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  perform geoembeddings.check_comparable(a, b);
  return query execute format(
    'with page as materialized (
       select p.id, geoembeddings.as_similarity(p.distance, $8) as similarity, p.first
       from geoembeddings.pair_tables($1, $2, $3, $4, $5) p
       where geoembeddings.as_similarity(p.distance, $8) >= $9
       order by p.distance, p.id limit $6 offset $7
     )
     select page.id, page.similarity, %s, %s from page %s order by page.similarity desc, page.id',
    case when include_geom then 'st_transform(t.geom, $5)' else 'null::geometry' end,
    case when include_embeddings then 'page.first' else 'null::vector' end,
    case when include_geom then format('join geoembeddings.%I t using (id)', a.table_name) else '' end
  ) using a, b, label_name, spatial_filter, srid, result_limit, coalesce(result_offset, 0), a.metric,
    coalesce(similarity_threshold, 0);
end
$$;

drop function geoembeddings.change_detection(
  text, text, text, double precision, integer, integer, boolean, boolean, geometry, integer);

-- Every pair of the two tables, most changed first: change_score = 1 - similarity.
-- change_z says how far a pair's difference is from what most pairs show, so that haze, season or a gain that is all
-- over the scene does not count: per dimension the difference less the median of the differences, over 1.4826 times
-- their median absolute deviation, cut at 8; the root mean square of that. Statistics are of up to 500 pairs that are
-- spread evenly over the ids. It needs 20 pairs, most of them unchanged; null with fewer.
create function geoembeddings.change_detection(
  table_name_1 text, table_name_2 text, label_name text default null, similarity_threshold double precision default null,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  order_by text default 'change_score'
) returns table (
  id bigint, change_score double precision, similarity double precision, change_z double precision,
  overlap double precision, geom geometry, embedding vector
)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  a geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_1);
  b geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_2);
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  perform geoembeddings.check_comparable(a, b);
  if order_by is null or order_by not in ('change_score', 'change_z') then
    raise exception using errcode = '22023', message = 'order_by must be change_score or change_z';
  end if;
  return query execute format(
    'with pairs as materialized (
       select p.id, p.distance, p.overlap, p.first,
         case $8 when ''l2'' then p.second - p.first else l2_normalize(p.second) - l2_normalize(p.first) end as difference
       from geoembeddings.pair_tables($1, $2, $3, $4, $5) p
     ), numbered as materialized (
       select p.difference, row_number() over (order by p.id) - 1 as place, count(*) over () as pairs from pairs p
     ), sample as materialized (
       select difference from numbered where place %% greatest(1, (pairs + 499) / 500) = 0 and pairs >= 20
     ), middle as materialized (
       select u.d, percentile_cont(0.5) within group (order by u.v) as m
       from sample s cross join lateral unnest(s.difference::real[]) with ordinality u(v, d) group by u.d
     ), spread as materialized (
       select u.d, 1.4826 * percentile_cont(0.5) within group (order by abs(u.v - middle.m)) as s
       from sample s cross join lateral unnest(s.difference::real[]) with ordinality u(v, d) join middle using (d)
       group by u.d
     ), model as materialized (
       select array_agg(middle.m order by d) as m,
         -- A dimension that hardly ever differs is held to a tenth of the usual spread, not to none.
         array_agg(greatest(spread.s, (select 0.1 * avg(e.s) from spread e)) order by d) as s
       from middle join spread using (d)
     ), chosen as (
       select p.*, geoembeddings.as_similarity(p.distance, $8) as similarity from pairs p
       where $9 is null or geoembeddings.as_similarity(p.distance, $8) >= $9
       %s
     ), scored as materialized (
       select c.id, c.similarity, c.overlap, c.first,
         (select sqrt(avg(case
             when u.m is null then null
             when u.s > 0 then least(64, ((u.v - u.m) / u.s) ^ 2)
             when u.v = u.m then 0
             else 64 end))
          from model cross join lateral unnest(c.difference::real[], model.m, model.s) u(v, m, s)) as change_z
       from chosen c
     )
     select s.id, 1 - s.similarity, s.similarity, s.change_z, s.overlap, %s, %s
     from scored s %s order by %s',
    -- Scores cost time per row: in the order of change_score only the rows of the page get one.
    case order_by when 'change_z' then '' else 'order by p.distance desc, p.id limit $6 offset $7' end,
    case when include_geom then 'st_transform(t.geom, $5)' else 'null::geometry' end,
    case when include_embeddings then 's.first' else 'null::vector' end,
    case when include_geom then format('join geoembeddings.%I t using (id)', a.table_name) else '' end,
    case order_by when 'change_z' then 's.change_z desc nulls last, s.id limit $6 offset $7'
      else 's.similarity, s.id' end
  ) using a, b, label_name, spatial_filter, srid, result_limit, coalesce(result_offset, 0), a.metric,
    similarity_threshold;
end
$$;

-- Mean of the tiles that an area meets, of their directions where directions are compared; null when it meets none.
create or replace function geoembeddings.mean_vector(entry geoembeddings.embeddings_catalogue, area geometry) returns vector
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  mean vector;
begin
  execute format(
    'select avg(%s) from geoembeddings.%I t where st_intersects(t.geom, $1) %s',
    case entry.metric when 'l2' then 't.embedding::vector' else 'l2_normalize(t.embedding::vector)' end,
    entry.table_name,
    case entry.metric when 'l2' then '' else 'and vector_norm(t.embedding::vector) > 0' end)
  into mean using area;
  return mean;
end
$$;

-- Every tile that resembles the query vector at least as much as the threshold says, best first, by the metric of its
-- table. Exact, unless the table is large, has an approximate index, a limit is given and nothing filters.
create or replace function geoembeddings.search_vector(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  approximate boolean := entry.approximate_index and not exact and result_limit is not null
    and label_name is null and spatial_filter is null;
  operator text := case entry.metric when 'l2' then '<->' else '<=>' end;
  threshold double precision := coalesce(similarity_threshold, 0);
  distance text := case
    when approximate then format('(t.embedding::halfvec(%s) %s $1::halfvec(%s))', entry.dims, operator, entry.dims)
    else format('(t.embedding %s $1::%s)', operator, case when entry.level = 'patch' then 'halfvec' else 'vector' end)
  end;
  filters text := '';
begin
  -- A vector of zeros has no direction, so nothing resembles it.
  if query_vector is null or (entry.metric = 'cosine' and vector_norm(query_vector) = 0) then
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
    'select s.id, geoembeddings.as_similarity(s.distance, $8), %s, %s
     from (
       select c.id, c.distance
       from (select t.id, %s as distance from geoembeddings.%I t where true %s) c
       where c.distance <= $6 %s
     ) s %s
     order by s.distance, s.id',
    case when include_geom then 'st_transform(t.geom, $7)' else 'null::geometry' end,
    case when include_embeddings then 't.embedding::vector' else 'null::vector' end,
    distance, entry.table_name,
    filters || case when approximate then format(' order by %s limit $4 offset $5', distance) else ' offset 0' end,
    case when approximate then '' else 'order by c.distance, c.id limit $4 offset $5' end,
    case when include_geom or include_embeddings then format('join geoembeddings.%I t on t.id = s.id', entry.table_name) else '' end
  ) using query_vector, label_name, geoembeddings.as_4326(spatial_filter, srid), result_limit,
    coalesce(result_offset, 0),
    -- A similarity of 1 / (1 + distance) is above 0 at every distance.
    case when entry.metric = 'cosine' then 1 - threshold
      when threshold <= 0 then 1e308 else 1 / threshold - 1 end, srid, entry.metric;
end
$$;

revoke all on all functions in schema geoembeddings from public;
grant execute on function
  geoembeddings.change_detection(text, text, text, double precision, integer, integer, boolean, boolean, geometry, integer, text)
to anon, authenticated, service_role;
