-- Searches that looked as if nothing were similar: swapped or shifted places, labels in another spelling, rows without a time.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- Longitudes between -180 and 180, for one turn too far in either direction: 181 is -179.
create function geoembeddings.within_turn(g geometry) returns geometry
language sql immutable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
  select case when st_xmin(g) < -180 or st_xmax(g) > 180 then st_wrapx(st_wrapx(g, 180, -360), -180, 360) else g end
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
  return geoembeddings.within_turn(placed);
end
$$;

-- Ground within a radius of a point: in meters by geodesics, because a projection around the point is wrong far from it and tears at the
-- antimeridian; in degrees in the plane.
create function geoembeddings.disc(place geometry, radius double precision, unit text) returns geometry
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
begin
  if not radius < 'infinity' then
    raise exception using errcode = '22023', message = 'radius must be a finite number';
  end if;
  if unit = 'deg' then
    return geoembeddings.within_turn(st_buffer(place, radius));
  end if;
  if radius >= least(st_distance(place::geography, 'SRID=4326;POINT(0 90)'), st_distance(place::geography, 'SRID=4326;POINT(0 -90)')) then
    raise exception using errcode = '22023', message = format('a radius of %s m reaches a pole', radius),
      hint = 'Use query_geometry, or unit deg.';
  end if;
  return geoembeddings.within_turn((
    select st_setsrid(st_makepolygon(st_makeline(
      st_makepoint(st_x(p.g) - 360 * round((st_x(p.g) - st_x(place)) / 360), st_y(p.g)) order by p.a)), 4326)
    from (
      select a, st_project(place::geography, radius, radians(-(a % 64) * 360 / 64.0))::geometry as g from generate_series(0, 64) a) p));
end
$$;

-- Rows of some sources of a table (null for all) that have no time; where rows have times of their own, as the statistics know it.
create function geoembeddings.rows_without_time(entry geoembeddings.embeddings_catalogue, by_row boolean, sources integer[])
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when by_row
    then (select round(s.null_frac * entry.rows)::bigint from pg_stats s
      where s.schemaname = 'geoembeddings' and s.tablename = entry.table_name and s.attname = 'datetime')
    else (select coalesce(sum(l.rows), 0)::bigint from geoembeddings.list_sources(entry.table_name) l
      where l.datetime is null and (sources is null or l.source = any(sources))) end
$$;

-- Refuses times and sources that no row of a table can have: an empty answer would look as if nothing were similar. Rows without a time,
-- which since and until leave out, are a warning.
create or replace function geoembeddings.check_time(
  entry geoembeddings.embeddings_catalogue, by_row boolean, since timestamptz, until timestamptz, sources integer[]
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  known integer[] := case when num_nonnulls(since, until, sources) > 0 then
    array(select s.source from geoembeddings.list_sources(entry.table_name) s) end;
  remedy text := 'POST /rest/v1/rpc/list_sources with Content-Profile: geoembeddings lists them with their times.';
  without_time bigint;
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
  if num_nonnulls(since, until) > 0 then
    without_time := geoembeddings.rows_without_time(entry, by_row, sources);
    if without_time > 0 then
      raise warning using message = format('%s rows of embedding table "%s" have no time, so since and until leave them out',
        without_time, entry.table_name);
    end if;
  end if;
end
$$;

-- Sources of a table in a time, of a day (UTC) and by number; null, which stands for all, when no condition is given.
create or replace function geoembeddings.part_of(
  entry geoembeddings.embeddings_catalogue, since timestamptz, until timestamptz, day date, sources integer[]
) returns integer[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  chosen integer[];
begin
  if num_nonnulls(since, until, day, sources) = 0 then
    return null;
  end if;
  perform geoembeddings.check_time(entry, false, since, until, sources);
  select array_agg(s.source) into chosen from geoembeddings.list_sources(entry.table_name) s
  where (since is null or s.datetime >= since) and (until is null or s.datetime <= until)
    and (day is null or (s.datetime at time zone 'UTC')::date = day)
    and (sources is null or s.source = any(sources));
  if chosen is null then
    raise exception using errcode = '22023',
      message = format('embedding table "%s" has no source of that date, time or number', entry.table_name),
      detail = geoembeddings.describe_sources(entry, null),
      hint = 'POST /rest/v1/rpc/list_sources with Content-Profile: geoembeddings lists them.';
  end if;
  return chosen;
end
$$;

-- A label for comparisons, without differences of case, Unicode composition and kinds of spaces.
create function geoembeddings.plain_label(label text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select btrim(regexp_replace(lower(normalize(label, NFKC)), '[\s_-]+', ' ', 'g')) $$;

-- The area of a filter in degrees. A filter that leaves no row of a table is refused where another reading of it would leave some: latitude
-- before longitude, degrees in place of the units of `srid`, a label in another spelling.
create function geoembeddings.filter_of(
  entry geoembeddings.embeddings_catalogue, label_name text, area geometry, srid integer
) returns geometry
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  placed geometry := geoembeddings.as_4326(area, srid);
  -- Whether the filter leaves rows as it is, with its axes swapped, and as degrees.
  found boolean;
  swapped boolean;
  degrees boolean;
  within_rows boolean;
  alike text;
begin
  if placed is not null then
    execute format('select exists (select from geoembeddings.%I t where st_intersects(t.geom, $1))', entry.table_name) into found using placed;
    if not found then
      execute format(
        'select exists (select from geoembeddings.%1$I t where st_intersects(t.geom, $1)),
           exists (select from geoembeddings.%1$I t where st_intersects(t.geom, $2))', entry.table_name)
      into swapped, degrees
      using st_flipcoordinates(placed), case when st_srid(area) = 0 and srid <> 4326 then st_setsrid(area, 4326) end;
      -- An area between the rows of a table, of the sea for instance, may rightly have none.
      if swapped then
        execute format('select st_intersects(st_setsrid(st_extent(t.geom)::geometry, 4326), $1) from geoembeddings.%I t', entry.table_name)
        into within_rows using placed;
        if not within_rows then
          raise exception using errcode = '22023',
            message = format('embedding table "%s" has no row in this area, but has some where latitude and longitude are swapped', entry.table_name),
            hint = 'Longitude comes first.';
        end if;
        raise warning 'No row is in this area. Some are where latitude and longitude are swapped: longitude comes first.';
      elsif degrees then
        raise exception using errcode = '22023',
          message = format('embedding table "%s" has no row in this area of EPSG:%s, but has some where its coordinates are degrees',
            entry.table_name, srid),
          hint = 'Leave srid out.';
      end if;
    end if;
  end if;
  if label_name is not null then
    execute format('select exists (select from geoembeddings.%I t where t.label_name = $1)', entry.table_name) into found using label_name;
    if not found then
      execute format(
        'select string_agg(format(''"%%s"'', l.label_name), '', '' order by l.label_name) from (
           select d.label_name from (select distinct t.label_name from geoembeddings.%I t where t.label_name is not null) d
           where geoembeddings.plain_label(d.label_name) = geoembeddings.plain_label($1) limit 5) l',
        entry.table_name)
      into alike using label_name;
      if alike is not null then
        raise exception using errcode = '22023',
          message = format('embedding table "%s" has no label "%s", but has %s', entry.table_name, label_name, alike),
          hint = 'Write label_name as the rows have it.';
      end if;
    end if;
  end if;
  return placed;
end
$$;

-- The caller's vector, if it has as many dimensions as the table, and a direction where directions are compared.
create or replace function geoembeddings.check_vector(entry geoembeddings.embeddings_catalogue, query_embedding vector) returns vector
language plpgsql immutable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
begin
  if query_embedding is null or vector_dims(query_embedding) <> entry.dims then
    raise exception using errcode = '22023',
      message = format('query_embedding has %s dimensions, embedding table "%s" has %s',
        coalesce(vector_dims(query_embedding), 0), entry.table_name, entry.dims),
      hint = format('Make the vector with the model %s.', entry.model_name);
  end if;
  if entry.metric = 'cosine' and vector_norm(query_embedding) = 0 then
    raise exception using errcode = '22023', message = 'query_embedding is all zeros, which has no direction to compare';
  end if;
  return query_embedding;
end
$$;

-- Functions that clients call stay: their filters and radii are read by the functions above.
do $$
declare
  body text;
begin
  for body in
    select replace(replace(replace(pg_get_functiondef(p.oid),
      'case unit when ''m'' then st_buffer(place::geography, radius)::geometry else st_buffer(place, radius) end',
      'geoembeddings.disc(place, radius, unit)'),
      'geoembeddings.as_4326(spatial_filter, srid), 2)', format('geoembeddings.filter_of(b, null, spatial_filter, srid), 2)')),
      format('geoembeddings.as_4326(%s, srid)', a.area),
      format('geoembeddings.filter_of(%s, %s, %s, srid)', case when 'b' = any(p.proargnames) then 'a' else 'entry' end,
        case when 'label_name' = any(p.proargnames) then 'label_name' else 'null' end, a.area))
    from pg_proc p cross join lateral (select case p.proname when 'similarity_summary' then 'area' else 'spatial_filter' end as area) a
    where p.pronamespace = 'geoembeddings'::regnamespace and p.proname <> 'filter_of' and p.prokind = 'f'
      and (p.prosrc like '%geoembeddings.as_4326(' || a.area || ', srid)%' or p.prosrc like '%st_buffer(place::geography%')
  loop
    execute body;
  end loop;
end
$$;

revoke all on function
  geoembeddings.within_turn(geometry), geoembeddings.disc(geometry, double precision, text), geoembeddings.plain_label(text),
  geoembeddings.rows_without_time(geoembeddings.embeddings_catalogue, boolean, integer[]),
  geoembeddings.filter_of(geoembeddings.embeddings_catalogue, text, geometry, integer)
from public, anon, authenticated;
