-- Searches choose between the exact scan and the approximate index by how many rows the filters are likely to leave, and
-- take more than tiles for a query: a vector of the caller's, or lists of examples.
set local search_path = public, extensions;

-- Rows that the exact scan may compare, times the dimensions of each with what a row costs by itself: about 60 ms on one
-- core (50,000 rows of 384 dimensions).
create function geoembeddings.exact_budget() returns double precision
language sql immutable
as $$ select 50000 * (384 + 128) $$;

-- How many rows of a table the filters leave, by the statistics that ANALYZE gathered, as the planner would estimate it.
create function geoembeddings.estimate_rows(
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
  if area is not null then
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

-- Every tile that resembles the query vector at least as much as the threshold says, best first, by the metric of its
-- table. Exact where the filters leave few enough rows, or no limit is given. Otherwise the index gives ten times the rows
-- that are wanted, at least 100, by an iterative scan in half precision, and they are ranked again in full precision: recall
-- is lost by stopping early, not by the order of the graph. Where the index runs out before, the exact scan answers.
create or replace function geoembeddings.search_vector(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  wanted integer := result_limit + coalesce(result_offset, 0);
  fetched integer := least(greatest(100, 10 * wanted), wanted + 1000);
  area geometry := geoembeddings.as_4326(spatial_filter, srid);
  filtered boolean := label_name is not null or spatial_filter is not null;
  approximate boolean := entry.approximate_index and not exact and wanted <= 1000
    and geoembeddings.estimate_rows(entry, label_name, area) * (entry.dims + 128) > geoembeddings.exact_budget();
  operator text := case entry.metric when 'l2' then '<->' else '<=>' end;
  threshold double precision := coalesce(similarity_threshold, 0);
  filters text := case when label_name is null then '' else ' and t.label_name = $2' end
    || case when spatial_filter is null then '' else ' and st_intersects(t.geom, $3)' end;
  chosen bigint[];
begin
  -- A vector of zeros has no direction, so nothing resembles it.
  if query_vector is null or (entry.metric = 'cosine' and vector_norm(query_vector) = 0) then
    return;
  end if;
  if approximate then
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
    perform set_config('hnsw.ef_search', least(1000, greatest(case when filtered then 400 else 200 end, wanted))::text, true);
    perform set_config('hnsw.max_scan_tuples', '60000', true);
    perform set_config('hnsw.scan_mem_multiplier', '8', true);
    execute format(
      'select array_agg(c.id) from (
         select t.id from geoembeddings.%I t where true %s
         order by t.embedding::halfvec(%s) %s $1::halfvec(%s) limit $4
       ) c', entry.table_name, filters, entry.dims, operator, entry.dims)
    into chosen using query_vector, label_name, area, fetched;
    if coalesce(cardinality(chosen), 0) < wanted then
      chosen := null;
    end if;
  end if;
  -- The inner select is fenced by OFFSET 0, so that each distance is computed once. NaN, the distance of a zero vector, is
  -- greater than every number: the comparison with the threshold leaves it out.
  return query execute format(
    'select s.id, geoembeddings.as_similarity(s.distance, $8), %s, %s
     from (
       select c.id, c.distance
       from (select t.id, (t.embedding %s $1::%s) as distance from geoembeddings.%I t where %s offset 0) c
       where c.distance <= $6 order by c.distance, c.id limit $4 offset $5
     ) s %s
     order by s.distance, s.id',
    case when include_geom then 'st_transform(t.geom, $7)' else 'null::geometry' end,
    case when include_embeddings then 't.embedding::vector' else 'null::vector' end,
    operator, case when entry.level = 'patch' then 'halfvec' else 'vector' end, entry.table_name,
    case when chosen is null then 'true' || filters else 't.id = any($9)' end,
    case when include_geom or include_embeddings then format('join geoembeddings.%I t on t.id = s.id', entry.table_name) else '' end
  ) using query_vector, label_name, area, result_limit, coalesce(result_offset, 0),
    -- A similarity of 1 / (1 + distance) is above 0 at every distance.
    case when entry.metric = 'cosine' then 1 - threshold
      when threshold <= 0 then 1e308 else 1 / threshold - 1 end, srid, entry.metric, chosen;
end
$$;

-- Tiles like a vector that the caller brings, of the same model.
create function geoembeddings.similarity_search(
  table_name text, query_embedding vector, label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  if query_embedding is null or vector_dims(query_embedding) <> entry.dims then
    raise exception using errcode = '22023',
      message = format('query_embedding has %s dimensions, embedding table "%s" has %s',
        coalesce(vector_dims(query_embedding), 0), table_name, entry.dims),
      hint = format('Make the vector with the model %s.', entry.model_name);
  end if;
  return query select * from geoembeddings.search_vector(entry, query_embedding, label_name, similarity_threshold,
    result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact);
end
$$;

-- Mean of the rows with these ids, of their directions where directions are compared; null when there are none.
create function geoembeddings.mean_of_rows(entry geoembeddings.embeddings_catalogue, ids bigint[]) returns vector
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  mean vector;
begin
  execute format(
    'select avg(%s) from geoembeddings.%I t where t.id = any($1) %s',
    case entry.metric when 'l2' then 't.embedding::vector' else 'l2_normalize(t.embedding::vector)' end,
    entry.table_name,
    case entry.metric when 'l2' then '' else 'and vector_norm(t.embedding::vector) > 0' end)
  into mean using ids;
  return mean;
end
$$;

-- Tiles like some examples and unlike others, of the same table or of one that compares with it: the mean of the positive
-- ones less half the mean of the negative ones (Rocchio's rule).
create function geoembeddings.similarity_search(
  table_name text, positive_ids bigint[], negative_ids bigint[] default null, examples_table text default null,
  label_name text default null, similarity_threshold double precision default 0.0,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  exact boolean default false
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  examples geoembeddings.embeddings_catalogue := geoembeddings.readable(coalesce(examples_table, table_name));
  query_vector vector;
  away vector;
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  perform geoembeddings.check_comparable(entry, examples);
  query_vector := geoembeddings.mean_of_rows(examples, positive_ids);
  if query_vector is null then
    raise exception using errcode = 'PT404',
      message = format('embedding table "%s" has none of the rows of positive_ids', examples.table_name),
      hint = 'Ids are row-major tile indices; tiles without enough valid pixels have no row.';
  end if;
  away := geoembeddings.mean_of_rows(examples, negative_ids);
  if away is not null then
    query_vector := query_vector - away * array_fill(0.5::real, array[entry.dims])::vector;
  end if;
  return query select * from geoembeddings.search_vector(entry, query_vector, label_name, similarity_threshold,
    result_limit, result_offset, include_geom, include_embeddings, spatial_filter, srid, exact);
end
$$;

revoke all on all functions in schema geoembeddings from public;
grant execute on function
  geoembeddings.similarity_search(text, vector, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean),
  geoembeddings.similarity_search(text, bigint[], bigint[], text, text, double precision, integer, integer, boolean, boolean, geometry, integer, boolean)
to anon, authenticated, service_role;
