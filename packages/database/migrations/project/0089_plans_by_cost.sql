-- Searches under a filter take the index only where it is likely to answer before a look at every row that is left.
set local search_path = public, extensions;

-- Whether the index answers sooner than the exact scan of the rows that the filters leave. The index passes over the rows of
-- the whole table in the order of likeness until it has found enough that the filters keep: of 250,000 rows of 1,024 dimensions
-- it took 12 to 15 µs for each, so the budget of the exact scan pays for 3,400 of them, a quarter of the time left for areas that
-- hold little of what the query resembles.
create function geoembeddings.index_is_faster(
  entry geoembeddings.embeddings_catalogue, remaining double precision, wanted integer, filtered boolean
) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select remaining * (entry.dims + 128) > geoembeddings.exact_budget() * greatest(1,
    geoembeddings.fetched_rows(wanted, filtered, coalesce(entry.index_kind, 'halfvec'))
      * entry.rows / greatest(remaining, 1) / 3400)
$$;

-- Rows near a vector by the index of a table: some times those that are wanted, to be ranked by full precision. Null when
-- the index ran out before. Most rows that a small area leaves out are told by their boxes, at a tenth of the cost. Compiling
-- the query would take longer than it runs.
create or replace function geoembeddings.candidates(
  target regclass, dims integer, metric text, query_vector vector, label_name text, area geometry, wanted integer
) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
as $$
declare
  about jsonb := (
    select obj_description(i.indexrelid, 'pg_class')::jsonb
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
    where i.indrelid = target and a.amname = 'hnsw' order by i.indexrelid limit 1);
  kind text := coalesce(about ->> 'kind', 'halfvec');
  filtered boolean := label_name is not null or area is not null;
  fetched integer := geoembeddings.fetched_rows(wanted, filtered, kind);
  chosen bigint[];
begin
  perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  perform set_config('hnsw.ef_search', case
    when kind = 'bit' then least(1000, fetched)
    else least(1000, greatest(case when filtered then 400 else 200 end, wanted)) end::text, true);
  perform set_config('hnsw.max_scan_tuples', '60000', true);
  perform set_config('hnsw.scan_mem_multiplier', '8', true);
  execute format(
    'select array_agg(c.id) from (select t.id from %s t where true %s %s order by (%s) %s (%s) limit $4) c',
    target,
    case when label_name is null then '' else 'and t.label_name = $2' end,
    case when area is null then '' else 'and t.geom && $3 and st_intersects(t.geom, $3)' end,
    geoembeddings.indexed_expression(kind, about ->> 'center', dims, 't.embedding'),
    case when kind = 'bit' then '<~>' when metric = 'l2' then '<->' else '<=>' end,
    geoembeddings.indexed_expression(kind, about ->> 'center', dims, '$1'))
  into chosen using query_vector, label_name, area, fetched;
  return case when cardinality(chosen) >= wanted then chosen end;
end
$$;

-- Every tile that resembles the query vector at least as much as the threshold says, best first, by the metric of its
-- table. Exact where that is likely to be sooner, or no limit is given: a distance costs less than a look whether a tile meets an
-- area, so rows are ordered first and looked at until the page is full. Otherwise the index gives some times the rows that are
-- wanted by an iterative scan, and they are ranked again in full precision: recall is lost by stopping early, not by the order of
-- the graph. Where the index runs out before, the exact scan answers.
create or replace function geoembeddings.search_vector(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  wanted integer := result_limit + coalesce(result_offset, 0);
  area geometry := geoembeddings.as_4326(spatial_filter, srid);
  approximate boolean := entry.approximate_index and not exact and wanted <= 1000 and geoembeddings.index_is_faster(
    entry, geoembeddings.estimate_rows(entry, label_name, area), wanted, label_name is not null or area is not null);
  operator text := case entry.metric when 'l2' then '<->' else '<=>' end;
  threshold double precision := coalesce(similarity_threshold, 0);
  filters text := case when label_name is null then '' else ' and t.label_name = $2' end
    || case when area is null then '' else ' and t.geom && $3' end;
  chosen bigint[];
  page text := 'limit $4 offset $5';
  -- Whether rows are still to be looked at for the area.
  to_look_at boolean;
begin
  -- A vector of zeros has no direction, so nothing resembles it.
  if query_vector is null or (entry.metric = 'cosine' and vector_norm(query_vector) = 0) then
    return;
  end if;
  if approximate then
    chosen := geoembeddings.candidates(format('geoembeddings.%I', entry.table_name)::regclass, entry.dims, entry.metric,
      query_vector, label_name, area, wanted);
  end if;
  to_look_at := chosen is null and area is not null;
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
    case when to_look_at then 'offset 0' else page end,
    case when to_look_at
      then format('and (select st_intersects(a.geom, $3) from geoembeddings.%I a where a.id = c.id) %s', entry.table_name, page)
      else '' end,
    case when include_geom or include_embeddings then format('join geoembeddings.%I t on t.id = s.id', entry.table_name) else '' end
  ) using query_vector, label_name, area, result_limit, coalesce(result_offset, 0),
    -- A similarity of 1 / (1 + distance) is above 0 at every distance.
    case when entry.metric = 'cosine' then 1 - threshold
      when threshold <= 0 then 1e308 else 1 / threshold - 1 end, srid, entry.metric, chosen;
end
$$;

revoke all on function
  geoembeddings.index_is_faster(geoembeddings.embeddings_catalogue, double precision, integer, boolean)
from public;
