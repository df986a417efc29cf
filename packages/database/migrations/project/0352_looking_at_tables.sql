-- What a table of embeddings holds at a glance: false colours and outliers.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- An even part of the rows of a part of a table, by a hash of their ids: about `wanted` rows that have a direction, the same each time.
create function geoembeddings.sample_of(
  entry geoembeddings.embeddings_catalogue, part geoembeddings.time_part, area geometry, wanted integer
) returns table (id bigint, look vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
begin
  return query execute format(
    'select t.id, %s from geoembeddings.%I t
     where t.id in (select t.id from geoembeddings.%I t where true %s %s %s order by hashint8extended(t.id, 0), t.id limit $2) %s order by t.id',
    case entry.metric when 'l2' then 't.embedding::vector' else 'l2_normalize(t.embedding::vector)' end, entry.table_name, entry.table_name,
    part.rows, coalesce(' and ' || part.newest, ''), case when area is null then '' else 'and st_intersects(t.geom, $1)' end,
    case entry.metric when 'l2' then '' else 'and vector_norm(t.embedding::vector) > 0' end)
  using area, wanted;
end
$$;

-- A vector less its parts along some axes of length 1.
create function geoembeddings.without_axes(v vector, axes vector[]) returns vector
language plpgsql immutable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  axis vector;
begin
  foreach axis in array axes loop
    v := v - axis * array_fill((-(v <#> axis))::real, array[vector_dims(axis)])::vector;
  end loop;
  return v;
end
$$;

-- The first three principal axes of vectors less their mean, of length 1, by power iteration; fewer where what is left is shorter than
-- `shortest`.
create function geoembeddings.principal_axes(looks vector[], shortest double precision) returns vector[]
language plpgsql immutable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  axes vector[] := '{}';
  axis vector;
  next vector;
begin
  for a in 1..3 loop
    select l2_normalize(r.rest) into axis from (select geoembeddings.without_axes(x, axes) as rest from unnest(looks) x) r
    where vector_norm(r.rest) > shortest order by vector_norm(r.rest) desc limit 1;
    exit when axis is null;
    for i in 1..60 loop
      select sum(x * array_fill((-(x <#> axis))::real, array[vector_dims(x)])::vector) into next from unnest(looks) x;
      next := l2_normalize(geoembeddings.without_axes(next, axes));
      exit when next is null or vector_norm(next) = 0 or next <-> axis < 1e-5;
      axis := next;
    end loop;
    axes := axes || axis;
    axis := null;
  end loop;
  return axes;
end
$$;

-- Rows of a table in false colours: their first three principal components and the colour that they give, red, green and blue from the 2nd
-- to the 98th percentile. Axes, percentiles and signs are those of up to 1,000 rows of the part, the same for the same rows.
create function geoembeddings.embedding_colors(
  table_name text, since timestamptz default null, until timestamptz default null, sources integer[] default null,
  latest boolean default false, spatial_filter geometry default null, srid integer default 4326,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default true
) returns table (id bigint, color text, pc1 real, pc2 real, pc3 real, geom geometry)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  part geoembeddings.time_part := geoembeddings.part_in_time(entry, since, until, sources, latest);
  area geometry := geoembeddings.as_4326(spatial_filter, srid);
  looks vector[];
  mean vector;
  axes vector[];
  low double precision[];
  high double precision[];
begin
  perform geoembeddings.check_page(result_limit, result_offset, null);
  select array_agg(s.look), avg(s.look) into looks, mean from geoembeddings.sample_of(entry, part, area, 1000) s;
  axes := geoembeddings.principal_axes(array(select x - mean from unnest(looks) x),
    (select 1e-5 * max(vector_norm(x)) from unnest(looks) x));
  -- The same sign each time: the sum of an axis is not negative.
  axes := array(select case when a <#> array_fill(1::real, array[entry.dims])::vector > 0
    then a * array_fill(-1::real, array[entry.dims])::vector else a end from unnest(axes) with ordinality u(a, n) order by u.n);
  select array_agg(p.edges[1] order by p.n), array_agg(p.edges[2] order by p.n) into low, high from (
    select u.n, percentile_cont(array[0.02, 0.98]) within group (order by -((x - mean) <#> u.axis)) as edges
    from unnest(looks) x cross join unnest(axes) with ordinality u(axis, n) group by u.n) p;
  return query execute format(
    'select c.id, ''#'' || lpad(to_hex(c.levels[1]), 2, ''0'') || lpad(to_hex(c.levels[2]), 2, ''0'') || lpad(to_hex(c.levels[3]), 2, ''0''),
       c.parts[1]::real, c.parts[2]::real, c.parts[3]::real, c.geom
     from (
       select t.id, %s as geom, p.parts, array(
         select case when u.high > u.low then round(255 * least(1, greatest(0, (u.part - u.low) / (u.high - u.low))))::integer else 128 end
         from unnest(p.parts, $3, $4) with ordinality u(part, low, high, n) order by u.n) as levels
       from geoembeddings.%I t
       cross join lateral (
         select array(select coalesce(-(d.rest <#> $2[a]), 0) from generate_series(1, 3) a order by a) as parts
         from (select %s - $1 as rest offset 0) d) p
       where true %s %s %s %s
       order by t.id limit $6 offset $7
     ) c order by c.id',
    case when include_geom then 'st_transform(t.geom, $8)' else 'null::geometry' end, entry.table_name,
    case entry.metric when 'l2' then 't.embedding::vector' else 'l2_normalize(t.embedding::vector)' end,
    part.rows, coalesce(' and ' || part.newest, ''), case when area is null then '' else 'and st_intersects(t.geom, $5)' end,
    case entry.metric when 'l2' then '' else 'and vector_norm(t.embedding::vector) > 0' end)
  using mean, axes, low, high, area, result_limit, coalesce(result_offset, 0), srid;
end
$$;

-- Rows that are unlike all others, the most unlike first: the distance (1 - cosine, or that of l2) to the nearest of `compared` rows that are
-- spread over the part (distance-based outliers by sampling, Sugiyama and Borgwardt 2013), and the id of that row.
create function geoembeddings.embedding_outliers(
  table_name text, since timestamptz default null, until timestamptz default null, sources integer[] default null,
  latest boolean default false, spatial_filter geometry default null, srid integer default 4326, compared integer default 50,
  result_limit integer default 100, result_offset integer default 0, include_geom boolean default false
) returns table (id bigint, distance double precision, nearest_id bigint, geom geometry)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  part geoembeddings.time_part := geoembeddings.part_in_time(entry, since, until, sources, latest);
  area geometry := geoembeddings.as_4326(spatial_filter, srid);
begin
  perform geoembeddings.check_page(result_limit, result_offset, null);
  if compared is null or not compared between 2 and 500 then
    raise exception using errcode = '22023', message = 'compared must be a whole number from 2 to 500';
  end if;
  return query execute format(
    'with sample as materialized (select * from geoembeddings.sample_of($1, $2, $3, $4)),
     page as (
       select r.id, n.distance, n.id as nearest_id
       from (select t.id, %s as look from geoembeddings.%I t where true %s %s %s offset 0) r
       cross join lateral (
         select s.id, (r.look %s s.look)::double precision as distance from sample s where s.id <> r.id order by 2 limit 1) n
       where n.distance < ''NaN''
       order by n.distance desc, r.id limit $5 offset $6
     )
     select p.id, p.distance, p.nearest_id, %s from page p %s order by p.distance desc, p.id',
    case entry.metric when 'l2' then 't.embedding::vector' else 'l2_normalize(t.embedding::vector)' end, entry.table_name,
    part.rows, coalesce(' and ' || part.newest, ''), case when area is null then '' else 'and st_intersects(t.geom, $3)' end,
    case entry.metric when 'l2' then '<->' else '<=>' end,
    case when include_geom then 'st_transform(t.geom, $7)' else 'null::geometry' end,
    case when include_geom then format('join geoembeddings.%I t on t.id = p.id', entry.table_name) else '' end)
  using entry, part, area, compared, result_limit, coalesce(result_offset, 0), srid;
end
$$;

revoke all on function
  geoembeddings.sample_of(geoembeddings.embeddings_catalogue, geoembeddings.time_part, geometry, integer),
  geoembeddings.without_axes(vector, vector[]), geoembeddings.principal_axes(vector[], double precision)
from public, anon, authenticated;
revoke all on function
  geoembeddings.embedding_colors(text, timestamptz, timestamptz, integer[], boolean, geometry, integer, integer, integer, boolean),
  geoembeddings.embedding_outliers(text, timestamptz, timestamptz, integer[], boolean, geometry, integer, integer, integer, integer, boolean)
from public;
grant execute on function
  geoembeddings.embedding_colors(text, timestamptz, timestamptz, integer[], boolean, geometry, integer, integer, integer, boolean),
  geoembeddings.embedding_outliers(text, timestamptz, timestamptz, integer[], boolean, geometry, integer, integer, integer, integer, boolean)
to anon, authenticated, service_role;
