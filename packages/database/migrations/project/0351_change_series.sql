-- Change over many dates: the trend of each place and the date of its break.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- Refuses series of more looks, or of more numbers, than one statement compares.
create function geoembeddings.check_series(looks bigint, longest bigint, dims integer) returns boolean
language plpgsql immutable
as $$
begin
  if looks * dims > 268435456 then
    raise exception using errcode = '22023', message = format('a series of %s rows of %s dimensions is too large', looks, dims),
      hint = 'At most 268,435,456 numbers are compared at once: name an area by spatial_filter, or fewer dates.';
  end if;
  if longest > 40 then
    raise exception using errcode = '22023', message = format('a place has %s dates, at most 40 are compared', longest),
      hint = 'Choose a time by since and until, or sources.';
  end if;
  return true;
end
$$;

-- The looks of a part of a table at each place, at most one a day (UTC): the row that shares the most ground with the newest one. Vectors
-- are directions where directions are compared. Places of fewer than three dates have no series.
create function geoembeddings.looks_of_places(
  entry geoembeddings.embeddings_catalogue, part geoembeddings.time_part, label_name text, area geometry, min_overlap double precision
) returns table (place bigint, day date, n bigint, dates bigint, look vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  by_row boolean := geoembeddings.has_row_times(to_regclass(format('geoembeddings.%I', entry.table_name)));
  day text := case when by_row then 't.datetime' else 's.datetime' end || ' at time zone ''UTC''';
begin
  return query execute format(
    'with looks as (
       select b.id as place, d.day, d.look, row_number() over w as n, count(*) over (partition by b.id) as dates, count(*) over () as all_looks
       from geoembeddings.%1$I b
       cross join lateral (
         select distinct on (c.day) c.day, c.look from (
           select (%2$s)::date as day, %3$s as look, t.id, case when t.geom ~= b.geom then 1 else geoembeddings.overlap_of(t.geom, b.geom) end as overlap
           from geoembeddings.%1$I t %4$s
           where t.geom && case when st_numgeometries(b.geom) > 1 then b.geom else st_centroid(b.geom) end %5$s and %6$s
         ) c
         where c.overlap >= $2 and c.day is not null
         order by c.day, c.overlap desc, c.id
       ) d
       where b.id in (select t.id from geoembeddings.%1$I t where %7$s %5$s %8$s %9$s)
       window w as (partition by b.id order by d.day)
     )
     select l.place, l.day, l.n, l.dates, l.look from looks l
     where l.dates >= 3 and geoembeddings.check_series(l.all_looks, l.dates, %10$s)',
    entry.table_name, day, case entry.metric when 'l2' then 't.embedding::vector' else 'l2_normalize(t.embedding::vector)' end,
    case when by_row then '' else 'join geoembeddings.list_sources($3) s on s.source = (t.id >> 32)::integer' end, part.rows,
    case entry.metric when 'l2' then 'true' else 'vector_norm(t.embedding::vector) > 0' end, part.newest,
    case when label_name is null then '' else 'and t.label_name = $1' end,
    case when area is null then '' else 'and st_intersects(t.geom, $4)' end, entry.dims
  ) using label_name, min_overlap, entry.table_name, area;
end
$$;

-- Trend and break of each place of a table of three dates or more (days, UTC), most certain break first.
-- Differences that are all over the scene on a date (light, haze, season) are taken away first: per dimension the median, over up to 500
-- places, of what a look differs from the mean of its place. The places are those of the most dates: so many dates as 20 places of that date
-- have. From a date of fewer than 20 places nothing is taken away.
-- The break is the one step that leaves the least squares: of all ways to cut the series in two, the one after which looks are nearest to
-- the mean of their part (least-squares change point, Bai 1994); break_date is the first date after it, break_share the part of the
-- squares that it explains. change_score is half of the squared distance of the two means (1 - cosine for two looks), or
-- 1 - 1 / (1 + distance) for l2. break_z tells how far the squares of the step (their root) are from those of most places: less the
-- median, over 1.4826 times the median absolute deviation; null with fewer than 20 places. trend is the length of the least-squares slope
-- a year, trend_share the part of the squares that a straight line explains: greater than break_share where a place drifts.
create function geoembeddings.change_series(
  table_name text, since timestamptz default null, until timestamptz default null, sources integer[] default null,
  label_name text default null, spatial_filter geometry default null, srid integer default 4326, min_overlap double precision default 0.5,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false
) returns table (
  id bigint, dates integer, first_date date, last_date date, trend double precision, trend_share double precision,
  break_date date, break_share double precision, change_score double precision, break_z double precision, geom geometry
)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  part geoembeddings.time_part := geoembeddings.part_in_time(entry, since, until, sources, true);
begin
  perform geoembeddings.check_page(result_limit, result_offset, null);
  if min_overlap is null or not min_overlap between 0.5 and 1 then
    raise exception using errcode = '22023', message = 'min_overlap must be a number from 0.5 to 1';
  end if;
  if num_nonnulls(label_name, spatial_filter) = 0 then
    -- Before the work: without a filter each row is a look.
    perform geoembeddings.check_series((entry.rows * part.share)::bigint, 0, entry.dims);
  end if;
  return query execute format(
    'with looks as materialized (
       select * from geoembeddings.looks_of_places($1, $2, $3, $4, $5)
     ), means as materialized (
       select l.place, avg(l.look) as mean from looks l group by l.place
     ), usable as (
       select l.*, nth_value(l.dates, 20) over (partition by l.day order by l.dates desc, l.place
         rows between unbounded preceding and unbounded following) as enough from looks l
     ), chosen as materialized (
       select c.day, c.look - m.mean as rest
       from (
         select u.*, row_number() over (partition by u.day order by hashint8extended(u.place, 0), u.place) as number
         from usable u where u.dates >= u.enough
       ) c join means m using (place) where c.number <= 500
     ), offsets as materialized (
       select m.day, array_agg(m.v order by m.d)::vector as offset_of_day
       from (
         select c.day, u.d, percentile_cont(0.5) within group (order by u.v) as v
         from chosen c cross join lateral unnest(c.rest::real[]) with ordinality u(v, d) group by c.day, u.d
       ) m group by m.day
     ), clean as materialized (
       select l.place, l.day, l.n, l.dates, coalesce(l.look - o.offset_of_day, l.look) as look,
         (l.day - date ''2000-01-01'') / 365.25::double precision - avg((l.day - date ''2000-01-01'') / 365.25::double precision) over w as year
       from looks l left join offsets o using (day) window w as (partition by l.place)
     ), pairs as materialized (
       select a.place, a.n as first, b.n as second, a.dates, (a.look <-> b.look) ^ 2 as square, a.year * b.year as years
       from clean a join clean b on b.place = a.place and b.n > a.n
     ), totals as (
       select c.place, c.dates, min(c.day) as first_date, max(c.day) as last_date, sum(c.year ^ 2) as spread from clean c group by c.place, c.dates
     ), lines as (
       select p.place, sum(p.square) / p.dates as total, greatest(0, -sum(p.square * p.years)) as rise from pairs p group by p.place, p.dates
     ), ends as (
       select e.place, e.n, e.dates, sum(e.before) as before, sum(e.after) as after
       from (
         select p.place, p.second as n, p.dates, p.square as before, 0 as after from pairs p
         union all select p.place, p.first, p.dates, 0, p.square from pairs p
       ) e group by e.place, e.n, e.dates
     ), steps as (
       select distinct on (s.place) s.place, s.k, s.within
       from (
         select e.place, e.n as k, e.dates, sum(e.before) over (partition by e.place order by e.n) / e.n
           + (sum(e.after) over (partition by e.place order by e.n desc) - e.after) / nullif(e.dates - e.n, 0) as within
         from ends e
       ) s where s.k < s.dates order by s.place, s.within, s.k
     ), places as materialized (
       select t.*, l.total, l.rise, s.k, greatest(0, l.total - s.within) as between_parts,
         greatest(0, l.total - s.within) * t.dates / (s.k * (t.dates - s.k)) as step
       from totals t join lines l using (place) join steps s using (place)
     ), usual as materialized (
       select m.middle, percentile_cont(0.5) within group (order by abs(sqrt(p.between_parts) - m.middle)) as spread
       from places p cross join (
         select percentile_cont(0.5) within group (order by sqrt(q.between_parts)) as middle from places q having count(*) >= 20
       ) m group by m.middle
     ), page as (
       select p.*, (sqrt(p.between_parts) - u.middle) / nullif(1.4826 * u.spread, 0) as z,
         case $6 when ''l2'' then 1 - 1 / (1 + sqrt(p.step)) else p.step / 2 end as score
       from places p left join usual u on true
       order by z desc nulls last, p.step desc, p.place limit $7 offset $8
     )
     select p.place, p.dates::integer, p.first_date, p.last_date, sqrt(p.rise) / p.spread, p.rise / p.spread / nullif(p.total, 0),
       case when p.step > 0 then c.day end, p.between_parts / nullif(p.total, 0), p.score, p.z, %s
     from page p join clean c on c.place = p.place and c.n = p.k + 1 %s order by p.z desc nulls last, p.step desc, p.place',
    case when include_geom then 'st_transform(t.geom, $9)' else 'null::geometry' end,
    case when include_geom then format('join geoembeddings.%I t on t.id = p.place', entry.table_name) else '' end
  ) using entry, part, label_name, geoembeddings.as_4326(spatial_filter, srid), min_overlap, entry.metric, result_limit,
    coalesce(result_offset, 0), srid;
end
$$;

-- Functions are for the functions that call them, and clients call these.
revoke all on function
  geoembeddings.has_row_times(regclass), geoembeddings.share_of_times(geoembeddings.embeddings_catalogue, timestamptz, timestamptz),
  geoembeddings.part_in_time(geoembeddings.embeddings_catalogue, timestamptz, timestamptz, integer[], boolean),
  geoembeddings.candidates(regclass, integer, text, vector, text, geometry, integer, geoembeddings.time_part),
  geoembeddings.search_vector(geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean, boolean,
    geometry, integer, boolean, geoembeddings.time_part),
  geoembeddings.search_varied(geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean, boolean,
    geometry, integer, boolean, double precision, geoembeddings.time_part),
  geoembeddings.search_by(geoembeddings.embeddings_catalogue, vector, text, double precision, integer, integer, boolean, boolean,
    geometry, integer, boolean, double precision, geoembeddings.time_part),
  geoembeddings.check_series(bigint, bigint, integer),
  geoembeddings.looks_of_places(geoembeddings.embeddings_catalogue, geoembeddings.time_part, text, geometry, double precision)
from public, anon, authenticated;
do $$
declare
  search regprocedure;
begin
  for search in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'geoembeddings' and p.proname in ('similarity_search', 'similarity_summary', 'change_series')
  loop
    execute format('revoke all on function %s from public', search);
    execute format('grant execute on function %s to anon, authenticated, service_role', search);
  end loop;
end
$$;
