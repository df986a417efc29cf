-- The vector that a search compares with: of a row, of an area, of examples, or the caller's own.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- Gives a geometry without an SRID the one the caller names, then brings it to 4326.
create function geoembeddings.as_4326(g geometry, srid integer) returns geometry
language sql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
  select case
    when g is null then null
    else st_transform(case when st_srid(g) = 0 then st_setsrid(g, srid) else g end, 4326)
  end
$$;

-- From a distance to what clients see: the cosine, or 1 / (1 + distance) for l2; 1 is equal in both.
create function geoembeddings.as_similarity(distance double precision, metric text) returns double precision
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select case metric when 'l2' then 1 / (1 + distance) else 1 - distance end $$;

-- Refuses limits, offsets and thresholds that have no meaning.
create function geoembeddings.check_page(result_limit integer, result_offset integer, similarity_threshold double precision) returns void
language plpgsql immutable
as $$
begin
  if result_limit < 0 or result_offset < 0 then
    raise exception using errcode = '22023', message = 'result_limit and result_offset must not be negative';
  end if;
  if similarity_threshold = 'NaN' then
    raise exception using errcode = '22023', message = 'similarity_threshold must be a number from -1 to 1';
  end if;
end
$$;

-- The vector of one row.
create function geoembeddings.vector_of_row(entry geoembeddings.embeddings_catalogue, row_id bigint) returns vector
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  found vector;
begin
  execute format('select t.embedding::vector from geoembeddings.%I t where t.id = $1', entry.table_name)
  into found using row_id;
  if found is null then
    raise exception using errcode = 'PT404', message = format('embedding table "%s" has no row with id %s', entry.table_name, row_id),
      hint = 'Ids are row-major tile indices; tiles without enough valid pixels have no row.';
  end if;
  return found;
end
$$;

-- The caller's vector, if it has as many dimensions as the table.
create function geoembeddings.check_vector(entry geoembeddings.embeddings_catalogue, query_embedding vector) returns vector
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
  return query_embedding;
end
$$;

-- Mean of the tiles that an area meets, of their directions where directions are compared; null when it meets none.
create function geoembeddings.mean_vector(entry geoembeddings.embeddings_catalogue, area geometry) returns vector
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

-- How many times as large the pixels of one table are as those of another, 1 or more; null where a table does not say.
create function geoembeddings.ground_ratio(a jsonb, b jsonb) returns double precision
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select greatest(first / nullif(second, 0), second / nullif(first, 0))
  from (select (a ->> 'pixel_meters')::double precision as first, (b ->> 'pixel_meters')::double precision as second) m
$$;

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

-- Channels of a table: their names where the raster or its profile names all of them, else the indices.
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

-- Refuses two tables whose vectors do not mean the same. Units of ranges that a caller stated are the caller's responsibility. Older
-- tables say neither units nor ground size.
create function geoembeddings.check_comparable(
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

-- Mean of examples, {"table": [id, …]} with tables that compare with the one that is searched: of their directions where
-- directions are compared. Null without examples.
create function geoembeddings.mean_of_examples(
  entry geoembeddings.embeddings_catalogue, examples jsonb, argument text
) returns vector
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  other geoembeddings.embeddings_catalogue;
  wanted record;
  ids bigint[];
  part record;
  total vector;
  rows_found bigint := 0;
begin
  if examples is null or jsonb_typeof(examples) = 'null' then
    return null;
  end if;
  if jsonb_typeof(examples) <> 'object'
    or jsonb_path_exists(examples, 'strict $.* ? (@.type() != "array")')
    or jsonb_path_exists(examples, 'strict $.*[*] ? (@.type() != "number" && @.type() != "string")') then
    raise exception using errcode = '22023',
      message = format('%s must be an object of lists of ids by table', argument),
      hint = format('For example {"%s": [1, 2]}.', entry.table_name);
  end if;
  for wanted in select e.key, e.value from jsonb_each(examples) e loop
    other := geoembeddings.readable(wanted.key);
    perform geoembeddings.check_comparable(entry, other);
    begin
      select coalesce(array_agg(distinct i::bigint), '{}') into ids from jsonb_array_elements_text(wanted.value) i;
    exception when invalid_text_representation or numeric_value_out_of_range then
      raise exception using errcode = '22023', message = format('%s."%s" must be a list of ids', argument, wanted.key);
    end;
    execute format(
      'select count(*) as found, count(*) filter (where vector_norm(t.embedding::vector) > 0 or %L = ''l2'') as used,
         sum(%s) as total,
         (select array_agg(i) from unnest($1) i where not exists (select from geoembeddings.%I k where k.id = i)) as missing
       from geoembeddings.%I t where t.id = any($1)',
      entry.metric,
      case entry.metric when 'l2' then 't.embedding::vector' else 'l2_normalize(t.embedding::vector)' end,
      other.table_name, other.table_name)
    into part using ids;
    if part.missing is not null then
      raise exception using errcode = 'PT404',
        message = format('embedding table "%s" has no row with id %s, which %s names', other.table_name,
          array_to_string(part.missing[1:5], ', '), argument),
        hint = 'Ids are row-major tile indices; tiles without enough valid pixels have no row.';
    end if;
    if part.total is not null then
      total := case when total is null then part.total else total + part.total end;
      rows_found := rows_found + part.used;
    end if;
  end loop;
  if rows_found = 0 then
    return null;
  end if;
  return total * array_fill((1.0 / rows_found)::real, array[entry.dims])::vector;
end
$$;

-- The query of examples: the mean of the positive ones less half the mean of the negative ones (Rocchio's rule).
create function geoembeddings.vector_of_examples(
  entry geoembeddings.embeddings_catalogue, positive jsonb, negative jsonb
) returns vector
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  query_vector vector := geoembeddings.mean_of_examples(entry, positive, 'positive');
  away vector := geoembeddings.mean_of_examples(entry, negative, 'negative');
begin
  if query_vector is null then
    raise exception using errcode = '22023', message = 'positive names no row that has a direction',
      hint = format('For example {"%s": [1, 2]}.', entry.table_name);
  end if;
  if away is null then
    return query_vector;
  end if;
  return query_vector - away * array_fill(0.5::real, array[entry.dims])::vector;
end
$$;
