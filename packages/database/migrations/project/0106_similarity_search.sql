-- Searches that clients call through PostgREST: tiles that resemble a tile, a place, a vector or examples.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- Tiles like one tile of the same table, that tile included.
create function geoembeddings.similarity_search(
  table_name text, patch_id bigint, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  return query select * from geoembeddings.search_by(entry, geoembeddings.vector_of_row(entry, patch_id), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- Tiles like those at a point, or within a radius of it (unit m on the spheroid, or deg in the plane).
create function geoembeddings.similarity_search(
  table_name text, lon double precision, lat double precision, radius double precision default null, unit text default 'm',
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
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
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- Tiles like those that a polygon touches.
create function geoembeddings.similarity_search(
  table_name text, query_geometry geometry, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
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
    result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- Tiles like a vector that the caller brings, of the same model.
create function geoembeddings.similarity_search(
  table_name text, query_embedding vector, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  return query select * from geoembeddings.search_by(entry, geoembeddings.check_vector(entry, query_embedding), label_name,
    similarity_threshold, result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- Tiles like some examples and unlike others: {"table": [id, …]}, of this table and others that compare with it.
create function geoembeddings.similarity_search(
  table_name text, positive jsonb, negative jsonb default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
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
    variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- The same with examples of one table.
create function geoembeddings.similarity_search(
  table_name text, positive_ids bigint[], negative_ids bigint[] default null, examples_table text default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false, variety double precision default 0.0,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
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
    variety,
    geoembeddings.sources_in(entry, since, until, sources));
end
$$;

-- How many rows resemble a query, and how much: in all, in an area, or per tile of the web map at a zoom (`cells`), by the
-- middle of each row's footprint. The query is one of patch_id, query_embedding and positive (with negative). Compares every
-- row. `matches` resemble it at least as much as the threshold says; the similarities are those of the matches.
create function geoembeddings.similarity_summary(
  table_name text, patch_id bigint default null, query_embedding vector default null, positive jsonb default null,
  negative jsonb default null, similarity_threshold double precision default 0.0, area geometry default null,
  cells integer default null, label_name text default null, result_limit integer default 1000, result_offset integer default 0,
  include_geom boolean default false, srid integer default 4326,
  since timestamptz default null, until timestamptz default null, sources integer[] default null
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
         from geoembeddings.%I t where true %s %s %s offset 0
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
    geoembeddings.rows_of_sources(geoembeddings.sources_in(entry, since, until, sources)),
    case when cells is null then 'null::text' else 'format(''%s/%s/%s'', $8, c.x, c.y)' end,
    case when include_geom and cells is not null then 'st_transform(st_tileenvelope($8, c.x, c.y), $9)'
      when include_geom and area is not null then 'st_transform($4, $9)' else 'null::geometry' end
  ) using entry.metric, query_vector, label_name, geoembeddings.as_4326(area, srid), coalesce(similarity_threshold, 0),
    result_limit, coalesce(result_offset, 0), cells, srid;
end
$$;
