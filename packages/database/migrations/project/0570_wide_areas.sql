-- Areas that jump from one side of the antimeridian to the other looked as if nothing were similar: they are drawn the long way around.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- A geometry in degrees. One without a reference system is taken to be in `srid`; coordinates that are no degrees are refused: they would
-- match nothing. A side of more than half of the Earth, but not all of it, is a warning.
create or replace function geoembeddings.as_4326(g geometry, srid integer) returns geometry
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  placed geometry := case when g is not null then st_transform(case when st_srid(g) = 0 then st_setsrid(g, srid) else g end, 4326) end;
  side double precision;
begin
  if st_isempty(placed) then
    raise exception using errcode = '22023', message = 'the geometry is empty';
  end if;
  if st_xmin(placed) < -540 or st_xmax(placed) > 540 or st_ymin(placed) < -90 or st_ymax(placed) > 90 then
    raise exception using errcode = '22023', message = format('coordinates from (%s, %s) to (%s, %s) are no degrees',
      st_xmin(placed), st_ymin(placed), st_xmax(placed), st_ymax(placed)),
      hint = 'Longitude comes first. Name the reference system of other coordinates by srid.';
  end if;
  if st_xmax(placed) - st_xmin(placed) > 180 then
    select max(d.across) into side
    from (select abs(st_x(st_endpoint(s.geom)) - st_x(st_startpoint(s.geom))) as across from st_dumpsegments(placed) s) d
    where d.across > 180 and d.across < 359;
    if side is not null then
      raise warning using message = format('the area has a side of %s degrees, which is taken as it is drawn; '
        'for one across the antimeridian send longitudes above 180', round(side::numeric, 2));
    end if;
  end if;
  return geoembeddings.within_turn(placed);
end
$$;
