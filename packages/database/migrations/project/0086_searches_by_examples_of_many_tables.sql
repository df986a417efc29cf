-- Searches take examples from several tables, and leave out near repetitions where the caller wants variety; a summary counts
-- what resembles a query in an area or per cell of the map.
set local search_path = public, extensions;

-- The rows of a search that a caller wants unlike each other (maximal marginal relevance, Carbonell and Goldstein 1998): of
-- the 200 best rows the next is always the one with the greatest
-- (1 - variety) * similarity - variety * (its similarity to the most similar row chosen before).
create function geoembeddings.search_varied(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, variety double precision
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
  -- The similarity of each candidate to the most similar chosen one; null for those that are chosen.
  nearest double precision[];
  chosen integer[] := '{}';
  next integer;
begin
  select array_agg(s.id), array_agg(s.embedding), array_agg(s.similarity), array_agg(0::double precision)
  into ids, vectors, similarities, nearest
  from geoembeddings.search_vector(entry, query_vector, label_name, similarity_threshold, 200, 0, false, true,
    spatial_filter, srid, exact) s;
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

-- The rows that a search by a vector answers with, whatever the vector was made of.
create function geoembeddings.search_by(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, variety double precision
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  if coalesce(variety, 0) = 0 then
    return query select * from geoembeddings.search_vector(entry, query_vector, label_name, similarity_threshold, result_limit,
      result_offset, include_geom, include_embeddings, spatial_filter, srid, exact);
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
    result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety);
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

-- A vector of the caller's, if it has as many dimensions as the table.
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

-- The query that examples make: the mean of the positive ones less half the mean of the negative ones (Rocchio's rule).
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

drop function geoembeddings.similarity_search(
  text, bigint, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean);
drop function geoembeddings.similarity_search(
  text, double precision, double precision, double precision, text, text, double precision, integer, integer, boolean, boolean,
  geometry, integer, boolean);
drop function geoembeddings.similarity_search(
  text, geometry, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean);
drop function geoembeddings.similarity_search(
  text, vector, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean);
drop function geoembeddings.similarity_search(
  text, bigint[], bigint[], text, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean);
drop function geoembeddings.mean_of_rows(geoembeddings.embeddings_catalogue, bigint[]);

-- Tiles like one tile of the same table, that tile included.
create function geoembeddings.similarity_search(
  table_name text, patch_id bigint, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  return query select * from geoembeddings.search_by(entry, geoembeddings.vector_of_row(entry, patch_id), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety);
end
$$;

-- Tiles like those at a point, or within a radius of it (unit m on the spheroid, or deg in the plane).
create function geoembeddings.similarity_search(
  table_name text, lon double precision, lat double precision, radius double precision default null, unit text default 'm',
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  place geometry := geoembeddings.as_4326(st_setsrid(st_makepoint(lon, lat), srid), srid);
begin
  if lon is null or lat is null or radius < 0 or unit is null or unit not in ('m', 'deg') then
    raise exception using errcode = '22023', message = 'lon, lat, a radius of at least 0 and a unit of m or deg are needed';
  end if;
  if radius > 0 then
    place := case unit when 'm' then st_buffer(place::geography, radius)::geometry else st_buffer(place, radius) end;
  end if;
  return query select * from geoembeddings.search_by(entry, geoembeddings.mean_vector(entry, place), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety);
end
$$;

-- Tiles like those that a polygon touches.
create function geoembeddings.similarity_search(
  table_name text, query_geometry geometry, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  if query_geometry is null or st_isempty(query_geometry) then
    raise exception using errcode = '22023', message = 'query_geometry is empty';
  end if;
  return query select * from geoembeddings.search_by(entry,
    geoembeddings.mean_vector(entry, geoembeddings.as_4326(query_geometry, srid)), label_name, similarity_threshold,
    result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety);
end
$$;

-- Tiles like a vector that the caller brings, of the same model.
create function geoembeddings.similarity_search(
  table_name text, query_embedding vector, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  return query select * from geoembeddings.search_by(entry, geoembeddings.check_vector(entry, query_embedding), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety);
end
$$;

-- Tiles like some examples and unlike others: {"table": [id, …]}, of this table and others that compare with it.
create function geoembeddings.similarity_search(
  table_name text, positive jsonb, negative jsonb default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  return query select * from geoembeddings.search_by(entry, geoembeddings.vector_of_examples(entry, positive, negative),
    label_name, similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact,
    variety);
end
$$;

-- The same with examples of one table.
create function geoembeddings.similarity_search(
  table_name text, positive_ids bigint[], negative_ids bigint[] default null, examples_table text default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  examples text := coalesce(examples_table, table_name);
begin
  return query select * from geoembeddings.search_by(entry,
    geoembeddings.vector_of_examples(entry, jsonb_build_object(examples, to_jsonb(positive_ids)),
      case when negative_ids is not null then jsonb_build_object(examples, to_jsonb(negative_ids)) end),
    label_name, similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact,
    variety);
end
$$;

-- How many rows resemble a query, and how much: in all, in an area, or per tile of the web map at a zoom (`cells`), by the
-- middle of each row's footprint. The query is one of patch_id, query_embedding and positive (with negative). Compares every
-- row. `matches` resemble it at least as much as the threshold says; the similarities are those of the matches.
create function geoembeddings.similarity_summary(
  table_name text, patch_id bigint default null, query_embedding vector default null, positive jsonb default null,
  negative jsonb default null, similarity_threshold double precision default 0.0, area geometry default null,
  cells integer default null, label_name text default null, result_limit integer default 1000, result_offset integer default 0,
  include_geom boolean default false, srid integer default 4326
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
         from geoembeddings.%I t where true %s %s offset 0
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
    case when cells is null then 'null::text' else 'format(''%s/%s/%s'', $8, c.x, c.y)' end,
    case when include_geom and cells is not null then 'st_transform(st_tileenvelope($8, c.x, c.y), $9)'
      when include_geom and area is not null then 'st_transform($4, $9)' else 'null::geometry' end
  ) using entry.metric, query_vector, label_name, geoembeddings.as_4326(area, srid), coalesce(similarity_threshold, 0),
    result_limit, coalesce(result_offset, 0), cells, srid;
end
$$;

revoke all on all functions in schema geoembeddings from public;
do $$
declare
  search regprocedure;
begin
  for search in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'geoembeddings' and p.proname in ('similarity_search', 'similarity_summary')
  loop
    execute format('grant execute on function %s to anon, authenticated, service_role', search);
  end loop;
end
$$;
