-- Comparing two looks at the same ground. Dates and sources of each side are named; a place that several sources show is refused until
-- they are, and tiles pair where they lie on the same ground.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- Shared ground over all ground of two tiles, 0 to 1.
create function geoembeddings.overlap_of(a geometry, b geometry) returns double precision
language sql immutable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
  select case when a ~= b then 1 else coalesce(m.shared / nullif(st_area(a) + st_area(b) - m.shared, 0), 0) end
  from (select st_area(st_intersection(a, b)) as shared) m
$$;

-- Refuses a part of a table in which sources of different dates, or of none, show the same place.
create function geoembeddings.check_one_look(
  entry geoembeddings.embeddings_catalogue, part integer[], area geometry, side integer
) returns void
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  pair record;
begin
  if (select count(*) < 2 or count(distinct (s.datetime at time zone 'UTC')::date) = 1 and count(s.datetime) = count(*)
      from geoembeddings.list_sources(entry.table_name) s
      where part is null or s.source = any(part)) then
    return;
  end if;
  execute format(
    'select (x.id >> 32)::integer as first, c.second
     from geoembeddings.%I x
     join geoembeddings.list_sources($1) e on e.source = (x.id >> 32)::integer
     cross join lateral (
       select f.source as second
       from geoembeddings.%I t
       join geoembeddings.list_sources($1) f on f.source = (t.id >> 32)::integer
       where t.geom && x.geom and t.id >= ((x.id >> 32) + 1) << 32 %s
         and ((e.datetime at time zone ''UTC'')::date = (f.datetime at time zone ''UTC'')::date) is not true
         and geoembeddings.overlap_of(x.geom, t.geom) >= 0.5
       limit 1
     ) c
     where true %s %s limit 1', entry.table_name, entry.table_name,
    case when part is null then '' else 'and (t.id >> 32)::integer = any($2)' end,
    case when part is null then '' else 'and (x.id >> 32)::integer = any($2)' end,
    case when area is null then '' else 'and st_intersects(x.geom, $3)' end)
  into pair using entry.table_name, part, area;
  if pair.first is not null then
    raise exception using errcode = '22023',
      message = format('sources %s and %s of embedding table "%s" show the same place', pair.first, pair.second, entry.table_name),
      detail = geoembeddings.describe_sources(entry, part),
      hint = format('Name one look at it: %s, or sources_%s.', case side when 1 then 'from_date' else 'to_date' end, side);
  end if;
end
$$;

-- Refuses to compare a part of a table with itself.
create function geoembeddings.check_two_looks(
  a geoembeddings.embeddings_catalogue, b geoembeddings.embeddings_catalogue,
  a_part integer[], b_part integer[]
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if a.table_name = b.table_name
    and (a_part is null or b_part is null or a_part && b_part) then
    raise exception using errcode = '22023',
      message = format('embedding table "%s" is compared with itself', a.table_name),
      detail = geoembeddings.describe_sources(a, null),
      hint = 'Name two of its dates by from_date and to_date, or two sets of sources by sources_1 and sources_2.';
  end if;
end
$$;

-- Each tile of the first part beside the tile of the second that it shares the most ground with: the same tile where both
-- have one grid. `overlap` is the shared ground over the ground of both, 0 to 1; pairs below `min_overlap` are left out.
-- Vectors of zeros have no cosine: no pair.
create function geoembeddings.pair_tables(
  a geoembeddings.embeddings_catalogue, b geoembeddings.embeddings_catalogue,
  a_part integer[], b_part integer[],
  label_name text, spatial_filter geometry, srid integer, min_overlap double precision
) returns table (id bigint, distance double precision, overlap double precision, first vector, second vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  of_second text := case when b_part is null then '' else 'and (t.id >> 32)::integer = any($4)' end;
begin
  return query execute format(
    'select x.id, p.distance, y.overlap, x.embedding::vector, y.embedding::vector
     from geoembeddings.%I x
     cross join lateral (
       select c.embedding, c.overlap from (
         (select t.embedding, t.id, 1::double precision as overlap
          from geoembeddings.%I t where t.geom ~= x.geom %s order by t.id limit 1)
         union all
         select t.embedding, t.id, geoembeddings.overlap_of(t.geom, x.geom) as overlap
         from geoembeddings.%I t
         where not exists (select from geoembeddings.%I t where t.geom ~= x.geom %s) and st_intersects(t.geom, x.geom) %s
       ) c
       where c.overlap > 0 and c.overlap >= $5
       order by c.overlap desc, c.id limit 1
     ) y
     cross join lateral (select (x.embedding %s y.embedding)::double precision as distance) p
     where p.distance < ''NaN'' %s %s %s',
    a.table_name, b.table_name, of_second, b.table_name, b.table_name, of_second, of_second,
    case a.metric when 'l2' then '<->' else '<=>' end,
    case when label_name is null then '' else 'and x.label_name = $1' end,
    case when spatial_filter is null then '' else 'and st_intersects(x.geom, $2)' end,
    case when a_part is null then '' else 'and (x.id >> 32)::integer = any($3)' end
  ) using label_name, geoembeddings.as_4326(spatial_filter, srid), a_part, b_part, min_overlap;
end
$$;

-- The pairs of two looks, checked. Where tiles meet and none shares enough ground an empty answer would read as no change.
create function geoembeddings.paired_looks(
  a geoembeddings.embeddings_catalogue, b geoembeddings.embeddings_catalogue,
  a_part integer[], b_part integer[],
  label_name text, spatial_filter geometry, srid integer, min_overlap double precision
) returns table (id bigint, distance double precision, overlap double precision, first vector, second vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  largest double precision;
begin
  if min_overlap is null or not min_overlap between 0 and 1 then
    raise exception using errcode = '22023', message = 'min_overlap must be a number from 0 to 1';
  end if;
  perform geoembeddings.check_comparable(a, b);
  perform geoembeddings.check_two_looks(a, b, a_part, b_part);
  perform geoembeddings.check_one_look(a, a_part, geoembeddings.as_4326(spatial_filter, srid), 1);
  perform geoembeddings.check_one_look(b, b_part, geoembeddings.as_4326(spatial_filter, srid), 2);
  return query select * from geoembeddings.pair_tables(a, b, a_part, b_part, label_name, spatial_filter, srid, min_overlap);
  if not found then
    select max(p.overlap) into largest
    from geoembeddings.pair_tables(a, b, a_part, b_part, label_name, spatial_filter, srid, 0) p;
    if largest > 0 then
      raise exception using errcode = '22023',
        message = format('no tile of "%s" overlaps one of "%s" by %s (shared ground over the ground of both), at most by %s',
          a.table_name, b.table_name, min_overlap, round(largest::numeric, 3)),
        hint = 'Make both tables with alignGrid and one tile size, or lower min_overlap.';
    end if;
  end if;
end
$$;

-- How much each place of the first table looks like the same place in the second, most alike first.
create function geoembeddings.similarity_search(
  table_name_1 text, table_name_2 text, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  min_overlap double precision default 0.5, from_date date default null, to_date date default null,
  sources_1 integer[] default null, sources_2 integer[] default null,
  since timestamptz default null, until timestamptz default null
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
  return query execute format(
    'with page as materialized (
       select p.id, geoembeddings.as_similarity(p.distance, $8) as similarity, p.first
       from geoembeddings.paired_looks($1, $2, $10, $11, $3, $4, $5, $12) p
       where geoembeddings.as_similarity(p.distance, $8) >= $9
       order by p.distance, p.id limit $6 offset $7
     )
     select page.id, page.similarity, %s, %s from page %s order by page.similarity desc, page.id',
    case when include_geom then 'st_transform(t.geom, $5)' else 'null::geometry' end,
    case when include_embeddings then 'page.first' else 'null::vector' end,
    case when include_geom then format('join geoembeddings.%I t using (id)', a.table_name) else '' end
  ) using a, b, label_name, spatial_filter, srid, result_limit, coalesce(result_offset, 0), a.metric,
    coalesce(similarity_threshold, 0), geoembeddings.part_of(a, since, until, from_date, sources_1),
    geoembeddings.part_of(b, since, until, to_date, sources_2), min_overlap;
end
$$;

-- Every pair of the two looks. change_score = 1 - similarity.
-- change_z says how far a pair's difference is from what most pairs show, so that haze, season or a gain that is all
-- over the scene does not count: per dimension the difference less the median of the differences, over 1.4826 times
-- their median absolute deviation, cut at 8; the root mean square of that. Statistics are of up to 500 pairs that are
-- spread evenly over the ids. It needs 20 pairs, most of them unchanged; null with fewer.
-- Pairs come by change_z unless the caller wants change_score: light, or a shift of a pixel, then ranks no unchanged tile above a
-- changed one. Pairs without a change_z, or with the same one, come by their similarity.
create function geoembeddings.change_detection(
  table_name_1 text, table_name_2 text, label_name text default null, similarity_threshold double precision default null,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  order_by text default 'change_z', min_overlap double precision default 0.5,
  from_date date default null, to_date date default null,
  sources_1 integer[] default null, sources_2 integer[] default null,
  since timestamptz default null, until timestamptz default null
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
  if order_by is null or order_by not in ('change_score', 'change_z') then
    raise exception using errcode = '22023', message = 'order_by must be change_score or change_z';
  end if;
  return query execute format(
    'with pairs as materialized (
       select p.id, p.distance, p.overlap, p.first,
         case $8 when ''l2'' then p.second - p.first else l2_normalize(p.second) - l2_normalize(p.first) end as difference
       from geoembeddings.paired_looks($1, $2, $10, $11, $3, $4, $5, $12) p
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
    case order_by when 'change_z' then 's.change_z desc nulls last, s.similarity, s.id limit $6 offset $7'
      else 's.similarity, s.id' end
  ) using a, b, label_name, spatial_filter, srid, result_limit, coalesce(result_offset, 0), a.metric,
    similarity_threshold, geoembeddings.part_of(a, since, until, from_date, sources_1),
    geoembeddings.part_of(b, since, until, to_date, sources_2), min_overlap;
end
$$;
