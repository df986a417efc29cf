-- Tables compare only where their numbers are of one kind and their pixels of one size on the ground.
set local search_path = public, extensions;

-- How many times as large the pixels of one table are as those of another, 1 or more; null where a table does not say.
create function geoembeddings.ground_ratio(a jsonb, b jsonb) returns double precision
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select greatest(first / nullif(second, 0), second / nullif(first, 0))
  from (select (a ->> 'pixel_meters')::double precision as first, (b ->> 'pixel_meters')::double precision as second) m
$$;
revoke all on function geoembeddings.ground_ratio(jsonb, jsonb) from public;

-- Two tables whose vectors mean the same, or nothing can be compared. Ranges that a caller stated are in units that the
-- caller answers for. Tables of before say neither units nor ground size.
create or replace function geoembeddings.check_comparable(
  a geoembeddings.embeddings_catalogue, b geoembeddings.embeddings_catalogue
) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  by_name boolean := jsonb_typeof(a.scale -> 'channels') = 'array' and jsonb_typeof(b.scale -> 'channels') = 'array';
  explicit boolean := 'explicit' in (coalesce(a.scale ->> 'origin', ''), coalesce(b.scale ->> 'origin', ''));
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
  if not explicit and a.scale ->> 'values' <> b.scale ->> 'values' then
    raise exception using errcode = '22023',
      message = format('tables "%s" (values: %s) and "%s" (values: %s) are in other units and cannot be compared',
        a.table_name, a.scale ->> 'values', b.table_name, b.scale ->> 'values'),
      hint = 'Make both tables of rasters in the same units, or with a profile for each.';
  end if;
  if geoembeddings.ground_ratio(a.scale, b.scale) > 1.25 then
    raise exception using errcode = '22023',
      message = format('tables "%s" (pixels of %s m) and "%s" (pixels of %s m) cannot be compared',
        a.table_name, a.scale ->> 'pixel_meters', b.table_name, b.scale ->> 'pixel_meters'),
      hint = 'Bring both rasters to one pixel size, and make their tables anew.';
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
