-- Under a filter the nearest rows may lie where the graph looks last: a search takes more of them before it ranks again.
set local search_path = public, extensions;

-- How many rows the index gives for those that are wanted.
create function geoembeddings.fetched_rows(wanted integer, filtered boolean) returns integer
language sql immutable
as $$ select least(greatest(case when filtered then 400 else 100 end, 10 * wanted), wanted + 1000) $$;
revoke all on function geoembeddings.fetched_rows(integer, boolean) from public;

-- Every tile that resembles the query vector at least as much as the threshold says, best first, by the metric of its
-- table. Exact where the filters leave few enough rows, or no limit is given. Otherwise the index gives some times the rows
-- that are wanted (fetched_rows), by an iterative scan in half precision, and they are ranked again in full precision: recall
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
  fetched integer := geoembeddings.fetched_rows(wanted, label_name is not null or spatial_filter is not null);
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
