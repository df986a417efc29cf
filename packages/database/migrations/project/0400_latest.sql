-- The newest rows of a table by comparing sets of rows, and refusals of searches that could find nothing.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- Sources from the oldest to the newest, where `latest` goes by them; null where rows have a time of their own.
alter type geoembeddings.time_part add attribute ages integer[];

-- Refuses times and sources that no row of a table can have: an empty answer would look as if nothing were similar.
create function geoembeddings.check_time(
  entry geoembeddings.embeddings_catalogue, by_row boolean, since timestamptz, until timestamptz, sources integer[]
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  known integer[] := case when num_nonnulls(since, until, sources) > 0 then
    array(select s.source from geoembeddings.list_sources(entry.table_name) s) end;
  remedy text := 'POST /rest/v1/rpc/list_sources with Content-Profile: geoembeddings lists them with their times.';
begin
  if since > until then
    raise exception using errcode = '22023', message = 'since is later than until';
  end if;
  if num_nonnulls(since, until) > 0 and not by_row
    and not exists (select from geoembeddings.list_sources(entry.table_name) s where s.datetime is not null) then
    raise exception using errcode = '22023', message = format('no source of embedding table "%s" has a time', entry.table_name),
      hint = 'Leave since and until out, or make the table anew with a datetime for each source.';
  end if;
  if sources = '{}' or array_position(sources, null) is not null then
    raise exception using errcode = '22023', message = 'sources must be numbers of sources',
      hint = 'Leave it out for all sources. ' || remedy;
  end if;
  if not sources <@ known then
    raise exception using errcode = '22023', message = format('embedding table "%s" has no source %s', entry.table_name,
      (select string_agg(n::text, ', ' order by n) from unnest(sources) n where not n = any(known))), hint = remedy;
  end if;
end
$$;

-- A geometry in degrees. One without a reference system is taken to be in `srid`; coordinates that are no degrees are refused: they would
-- match nothing.
create or replace function geoembeddings.as_4326(g geometry, srid integer) returns geometry
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  placed geometry := case when g is not null then st_transform(case when st_srid(g) = 0 then st_setsrid(g, srid) else g end, 4326) end;
begin
  if st_isempty(placed) then
    raise exception using errcode = '22023', message = 'the geometry is empty';
  end if;
  if st_xmin(placed) < -540 or st_xmax(placed) > 540 or st_ymin(placed) < -90 or st_ymax(placed) > 90 then
    raise exception using errcode = '22023', message = format('coordinates from (%s, %s) to (%s, %s) are no degrees',
      st_xmin(placed), st_ymin(placed), st_xmax(placed), st_ymax(placed)),
      hint = 'Longitude comes first. Name the reference system of other coordinates by srid.';
  end if;
  return placed;
end
$$;

-- Mean of the tiles that an area meets, of their directions where directions are compared; null when it meets none. An area that meets
-- tiles only with latitude and longitude swapped is refused.
create or replace function geoembeddings.mean_vector(entry geoembeddings.embeddings_catalogue, area geometry) returns vector
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  mean vector;
  is_swapped boolean;
begin
  execute format(
    'select avg(%s) from geoembeddings.%I t where st_intersects(t.geom, $1) %s',
    case entry.metric when 'l2' then 't.embedding::vector' else 'l2_normalize(t.embedding::vector)' end,
    entry.table_name,
    case entry.metric when 'l2' then '' else 'and vector_norm(t.embedding::vector) > 0' end)
  into mean using area;
  if mean is null then
    execute format(
      'select exists (select from geoembeddings.%1$I t where st_intersects(t.geom, $2))
         and not exists (select from geoembeddings.%1$I t where st_intersects(t.geom, $1))', entry.table_name)
    into is_swapped using area, st_flipcoordinates(area);
    if is_swapped then
      raise exception using errcode = '22023',
        message = format('embedding table "%s" has no row at this place, but has one where latitude and longitude are swapped', entry.table_name),
        hint = 'Longitude comes first.';
    end if;
  end if;
  return mean;
end
$$;

-- The query of examples: the mean of the positive ones less half the mean of the negative ones (Rocchio's rule). A row on both sides is
-- refused.
create or replace function geoembeddings.vector_of_examples(
  entry geoembeddings.embeddings_catalogue, positive jsonb, negative jsonb
) returns vector
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  query_vector vector := geoembeddings.mean_of_examples(entry, positive, 'positive');
  away vector := geoembeddings.mean_of_examples(entry, negative, 'negative');
  -- Ids of one table that are on both sides.
  shared record;
begin
  if query_vector is null then
    raise exception using errcode = '22023', message = 'positive names no row that has a direction',
      hint = format('For example {"%s": [1, 2]}.', entry.table_name);
  end if;
  if away is null then
    return query_vector;
  end if;
  select p.key, string_agg(distinct i::bigint::text, ', ') as ids into shared
  from jsonb_each(positive) p join jsonb_each(negative) n using (key) cross join jsonb_array_elements_text(p.value) i
  where i::bigint in (select j::bigint from jsonb_array_elements_text(n.value) j)
  group by p.key limit 1;
  if found then
    raise exception using errcode = '22023',
      message = format('positive and negative both name row %s of embedding table "%s"', shared.ids, shared.key);
  end if;
  return query_vector - away * array_fill(0.5::real, array[entry.dims])::vector;
end
$$;

-- Rows of a table that a label and an area leave, as the statistics know it. A table without statistics, such as an empty one, is taken
-- whole.
create or replace function geoembeddings.estimate_rows(
  entry geoembeddings.embeddings_catalogue, label_name text, area geometry
) returns double precision
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  share double precision := 1;
  labels record;
  place integer;
begin
  if area is not null and exists (
    select from pg_stats s where s.schemaname = 'geoembeddings' and s.tablename = entry.table_name and s.attname = 'geom') then
    share := coalesce(_postgis_selectivity(format('geoembeddings.%I', entry.table_name)::regclass, 'geom', area), 1);
  end if;
  if label_name is not null then
    select s.null_frac, s.n_distinct, s.most_common_vals::text::text[] as vals, s.most_common_freqs as freqs into labels
    from pg_stats s where s.schemaname = 'geoembeddings' and s.tablename = entry.table_name and s.attname = 'label_name';
    place := array_position(labels.vals, label_name);
    -- A label that no statistics know is rare, or new: the exact scan finds it in either case.
    share := share * coalesce(labels.freqs[place], 0);
  end if;
  return entry.rows * share;
end
$$;

-- Refuses limits, offsets and thresholds that have no meaning. No similarity is above 1.
create or replace function geoembeddings.check_page(
  result_limit integer, result_offset integer, similarity_threshold double precision
) returns void
language plpgsql immutable
as $$
begin
  if result_limit < 0 or result_offset < 0 then
    raise exception using errcode = '22023', message = 'result_limit and result_offset must not be negative';
  end if;
  if similarity_threshold = 'NaN' or similarity_threshold > 1 then
    raise exception using errcode = '22023', message = 'similarity_threshold must be a number from -1 to 1';
  end if;
end
$$;

-- The part of a table in a time (inclusive) and of some sources. With `latest` a row counts if no newer one shows its place: two rows
-- show one place when they share half of the ground of both, and then the middle of one lies in the other. Rows without a time are
-- older than all others. Of one time the source with the greater number is newer. Other footprints of one time and one source are places
-- of their own, though they overlap, as windows do that move by less than their width; of equal footprints the greater id is newer.
create or replace function geoembeddings.part_in_time(
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
  -- Whether row `o` hides row `t` of the same footprint, and what it needs besides to hide one of another footprint.
  newer text := '(coalesce(o.datetime, ''-infinity''), o.id) > (coalesce(t.datetime, ''-infinity''), t.id)';
  later text := '(coalesce(o.datetime, ''-infinity''), o.id >> 32) > (coalesce(t.datetime, ''-infinity''), t.id >> 32) and ';
begin
  perform geoembeddings.check_time(entry, by_row, since, until, sources);
  part.rows := geoembeddings.rows_of_sources(chosen);
  part.share := geoembeddings.share_of_sources(entry, chosen);
  if by_row and num_nonnulls(since, until) > 0 then
    part.rows := format('%s and t.datetime >= %L and t.datetime <= %L', part.rows, coalesce(since, '-infinity'), coalesce(until, 'infinity'));
    part.share := part.share * geoembeddings.share_of_times(entry, since, until);
  end if;
  if latest then
    if not by_row then
      select coalesce(array_agg(s.source order by s.datetime nulls first, s.source), '{}') into part.ages
      from geoembeddings.list_sources(entry.table_name) s where chosen is null or s.source = any(chosen);
      newer := format('array_position(%1$L::integer[], (o.id >> 32)::integer) > array_position(%1$L::integer[], (t.id >> 32)::integer)',
        part.ages);
      later := '';
    end if;
    part.newest := format(
      'not exists (select from (select * from geoembeddings.%I t where true %s) o
         where o.geom && %s and %s and (o.geom ~= t.geom or %s geoembeddings.overlap_of(o.geom, t.geom) >= 0.5))',
      entry.table_name, part.rows,
      -- The parts of a footprint at the antimeridian have their middle elsewhere.
      'case when st_numgeometries(t.geom) > 1 then t.geom else st_centroid(t.geom) end', newer, later);
  end if;
  return part;
end
$$;

-- A query of the ids of the rows that `part.newest` keeps, by comparing sets instead of one look-up for each row. `further` is one more
-- condition on rows `t`. Rows of sources that are not listed have no age: they hide nothing, and nothing hides them.
-- 1. `tried`: equal and near-equal footprints (sizes within a fifth, middles within an eighth) are compared with the newest of them, which
--    hides most: many dates of one place would else be compared each with each.
-- 2. `cells`: a row left is compared with rows around its middle until one hides it. Footprints lie in the cells that they touch, at most four
--    of a grid as wide as they are; a middle looks into one cell of each grid. Boxes have single precision, so cells have a margin.
-- 3. `singly`: a footprint of several parts, as at the antimeridian, has a box around the world. Rows that touch a part are looked up.
create function geoembeddings.newest_rows(
  entry geoembeddings.embeddings_catalogue, part geoembeddings.time_part, further text default ''
) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  by_row boolean := part.ages is null;
  -- Ground that two boxes share.
  shared text := '(greatest(0, least(o.x1, t.x1) - greatest(o.x0, t.x0)) * greatest(0, least(o.y1, t.y1) - greatest(o.y0, t.y0)))';
  -- Whether row `o` hides row `t`: boxes decide most pairs, exact shapes those near the limit.
  hides text := format(
    '(o.geom && t.middle and %1$s and case
        when o.geom ~= t.geom then true
        when (o.age, o.id >> 32) <= (t.age, t.id >> 32) then false
        when %2$s < 0.499999 * (o.area + t.area - %2$s) then false
        when o.is_box and t.is_box and %2$s > 0.500001 * (o.area + t.area - %2$s) then true
        else geoembeddings.overlap_of(o.geom, t.geom) >= 0.5 end)',
    case when by_row then '(o.age, o.id) > (t.age, t.id)' else 'o.age > t.age' end, shared);
begin
  return format(
    'with aged as materialized (
       select t.id, t.geom, %1$s as age from geoembeddings.%2$I t %3$s where true %4$s %5$s
     ), boxed as materialized (
       select b.*, ceil(greatest(b.width_class, b.height_class) / 4.0)::integer as level,
         b.area >= (1 - 1e-9) * (b.x1 - b.x0) * (b.y1 - b.y0) as is_box,
         first_value(b.id) over (
           partition by b.width_class, b.height_class, floor(8 * st_x(b.middle) / power(2, 0.25::float8 * b.width_class)),
             floor(8 * st_y(b.middle) / power(2, 0.25::float8 * b.height_class))
           order by b.age desc, b.id desc) as newest_near
       from (
         select a.*, st_area(a.geom) as area, st_centroid(a.geom) as middle, st_numgeometries(a.geom) > 1 as has_parts,
           st_xmin(a.geom) as x0, st_ymin(a.geom) as y0, st_xmax(a.geom) as x1, st_ymax(a.geom) as y1,
           ceil(4 * ln(st_xmax(a.geom) - st_xmin(a.geom) + 6e-5) / ln(2))::integer as width_class,
           ceil(4 * ln(st_ymax(a.geom) - st_ymin(a.geom) + 6e-5) / ln(2))::integer as height_class
         from aged a where a.age is not null and not st_isempty(a.geom)) b
     ), tried as materialized (
       select t.*, not t.has_parts and %6$s as is_hidden from boxed t join boxed o on o.id = t.newest_near
     ), cells as materialized (
       select o.*, c.x, c.y
       from tried o
       cross join lateral (select power(2, o.level) as size) g
       cross join lateral (
         select floor((o.x0 - 3e-5) / g.size)::integer + i as x, floor((o.y0 - 3e-5) / g.size)::integer + j as y
         from generate_series(0, 1) i cross join generate_series(0, 1) j) c
       where not o.has_parts and c.x <= floor((o.x1 + 3e-5) / g.size) and c.y <= floor((o.y1 + 3e-5) / g.size)
     ), middles as materialized (
       select t.*, l.level as cell_level, floor(st_x(t.middle) / power(2, l.level))::integer as x,
         floor(st_y(t.middle) / power(2, l.level))::integer as y
       from tried t cross join (select distinct o.level from tried o where not o.has_parts) l
       where not t.has_parts and not t.is_hidden
     ), singly as materialized (
       select distinct a.id
       from boxed b cross join lateral st_dump(b.geom) p join geoembeddings.%2$I t on t.geom && p.geom join aged a on a.id = t.id
       where b.has_parts
     ), hidden as (
       select t.id from tried t where t.is_hidden
       union all
       select t.id from middles t
       where exists (select from cells o where o.level = t.cell_level and o.x = t.x and o.y = t.y and %6$s)
       union all
       select s.id from singly s where not (select %7$s from geoembeddings.%2$I t where t.id = s.id)
     )
     select a.id from aged a except select h.id from hidden h',
    case when by_row then 'coalesce(t.datetime, ''-infinity'')' else 's.age' end, entry.table_name,
    case when by_row then '' else format(
      'left join unnest(%L::integer[]) with ordinality s(source, age) on s.source = (t.id >> 32)::integer', part.ages) end,
    part.rows, further, hides, part.newest);
end
$$;

-- The condition, after `where true`, that a row `t` is the newest of its place, for a query of all rows in an area (null: of the whole part);
-- empty where every row counts. Up to 200 rows are looked up one by one. A row that hides another meets the box of the area's rows.
create function geoembeddings.only_newest(
  entry geoembeddings.embeddings_catalogue, part geoembeddings.time_part, area geometry
) returns text
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  seen record;
begin
  if part.newest is null then
    return '';
  end if;
  if area is null then
    return format(' and t.id in (%s)', geoembeddings.newest_rows(entry, part));
  end if;
  execute format('select count(*) as rows, st_extent(t.geom)::geometry as box from geoembeddings.%I t where st_intersects(t.geom, $1) %s',
    entry.table_name, part.rows) into seen using area;
  if seen.rows <= 200 then
    return ' and ' || part.newest;
  end if;
  return format(' and t.id in (%s)', geoembeddings.newest_rows(entry, part, format('and t.geom && %L::geometry', st_setsrid(seen.box, 4326))));
end
$$;

-- Functions that look at all rows of a part or an area.
do $$
declare
  body text;
begin
  for body in
    select replace(pg_get_functiondef(p.oid), 'coalesce('' and '' || part.newest, '''')', format('geoembeddings.only_newest(entry, part, %s)',
      case p.proname when 'similarity_summary' then 'geoembeddings.as_4326(area, srid)' else 'area' end))
    from pg_proc p
    where p.pronamespace = 'geoembeddings'::regnamespace and p.prosrc like '%coalesce('' and '' || part.newest, '''')%'
  loop
    execute body;
  end loop;
end
$$;

-- Whether the index answers sooner than the exact scan of the rows that the filters leave. Within its budget the scan is taken. Beyond it the
-- times of both are compared. The index passes over rows in the order of likeness until the filters have kept enough. In the time of a budget
-- it passes over 3,400 rows as halfvec (12 to 15 µs each of 1,024 dimensions, a quarter left for areas that hold little of what the query
-- resembles) or 6,800 as bits (10 µs each under a label of a tenth of a million rows of 384 dimensions). A filter is taken to need twice the
-- rows that its share lets expect: what is similar lies together, so an area seldom holds its share. Rows of a label are scattered, each in a page
-- of its own.
create or replace function geoembeddings.index_is_faster(
  entry geoembeddings.embeddings_catalogue, remaining double precision, wanted integer, filtered boolean,
  scattered boolean default false
) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.scan_cost > geoembeddings.exact_budget() * greatest(1, c.rows_passed / c.rows_per_budget)
  from (
    select remaining * (entry.dims + 128) + case when scattered then geoembeddings.cost_of_pages(entry, remaining) else 0 end as scan_cost,
      geoembeddings.fetched_rows(wanted, filtered, coalesce(entry.index_kind, 'halfvec'))
        * case when filtered then 2 else 1 end * entry.rows / greatest(remaining, 1) as rows_passed,
      case entry.index_kind when 'bit' then 6800 else 3400 end as rows_per_budget
  ) c
$$;

-- Ids of the rows near a vector, by the index of a table. There are several times more than wanted, because the caller ranks
-- them again by full precision. Null when the index returns fewer rows than wanted. Boxes are compared before shapes, at a
-- tenth of the cost. Compiling the query (jit) would take longer than it runs. For the newest rows the index is asked for three times as many
-- of all ages, and for twelve times as many where too few of them are the newest.
create or replace function geoembeddings.candidates(
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
  asked integer;
  fetched integer;
  chosen bigint[];
  is_exhausted boolean;
begin
  perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  perform set_config('hnsw.max_scan_tuples', '60000', true);
  perform set_config('hnsw.scan_mem_multiplier', '8', true);
  foreach asked in array case when part.newest is null then array[wanted] else array[3 * wanted, 12 * wanted] end loop
    fetched := geoembeddings.fetched_rows(asked, filtered, kind);
    perform set_config('hnsw.ef_search', case
      when kind = 'bit' then least(1000, fetched)
      else least(1000, greatest(case when filtered then 400 else 200 end, asked)) end::text, true);
    execute format(
      'select array_agg(c.id) from (select t.id from %s t where true %s %s %s order by (%s) %s (%s) limit $4) c',
      target,
      case when label_name is null then '' else 'and t.label_name = $2' end,
      case when area is null then '' else 'and t.geom && $3 and st_intersects(t.geom, $3)' end,
      coalesce(part.rows, ''),
      geoembeddings.indexed_expression(kind, about ->> 'center', dims, 't.embedding'),
      case when kind = 'bit' then '<~>' when metric = 'l2' then '<->' else '<=>' end,
      geoembeddings.indexed_expression(kind, about ->> 'center', dims, '$1'))
    into chosen using query_vector, label_name, area, fetched;
    is_exhausted := coalesce(cardinality(chosen), 0) < fetched;
    if part.newest is not null then
      -- Places are looked up in the order of full precision, until as many as wanted are found.
      execute format(
        'select array_agg(r.id) from (
           select c.id from (
             select t.id, t.embedding::vector %s $1 as distance from %s t where t.id = any($2) order by distance, t.id offset 0) c
           where (select %s from %s t where t.id = c.id) limit $3) r',
        case metric when 'l2' then '<->' else '<=>' end, target, part.newest, target)
      into chosen using query_vector, chosen, wanted;
    end if;
    if cardinality(chosen) >= wanted then
      return chosen;
    end if;
    exit when is_exhausted;
  end loop;
  return null;
end
$$;

-- Every tile that resembles the query vector at least as much as the threshold says, best first, by the metric of its
-- table. Exact where that is likely to be sooner, or no limit is given: a distance costs less than a look whether a tile meets an
-- area or is the newest of its place, so rows are ordered first and looked at until the page is full. Otherwise the index gives some
-- times the rows that are wanted by an iterative scan, and they are ranked again in full precision: recall is lost by stopping early,
-- not by the order of the graph. Where the index runs out before, the exact scan answers.
create or replace function geoembeddings.search_vector(
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
  remaining double precision := geoembeddings.estimate_rows(entry, label_name, area) * part.share;
  approximate boolean := entry.approximate_index and not exact and wanted <= 1000
    and geoembeddings.index_is_faster(entry, remaining, wanted,
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
  -- A page of more than a twentieth of the rows would look up most of them.
  if chosen is null and (wanted is null or wanted * 20 > remaining) then
    filters := filters || geoembeddings.only_newest(entry, part, area);
    part.newest := null;
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

-- Compiling the query would take longer than it runs.
alter function geoembeddings.similarity_summary(text, boolean, bigint, vector, jsonb, jsonb, double precision, geometry, integer, text,
  integer, integer, boolean, integer, timestamptz, timestamptz, integer[]) set jit = off;

revoke all on function
  geoembeddings.check_time(geoembeddings.embeddings_catalogue, boolean, timestamptz, timestamptz, integer[]),
  geoembeddings.newest_rows(geoembeddings.embeddings_catalogue, geoembeddings.time_part, text),
  geoembeddings.only_newest(geoembeddings.embeddings_catalogue, geoembeddings.time_part, geometry)
from public, anon, authenticated;
