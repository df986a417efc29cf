-- Indexes over one bit per dimension, a twelfth to a twentieth of the size of one over floats, and how much they find. An index says
-- in its comment what it is: {"kind": "bit", "center": "[…]", "recall": 0.99}; one without a comment is over halfvec.
set local search_path = public, extensions;

alter table geoembeddings.embeddings_catalogue
  -- halfvec or bit; null where every row is compared.
  add column index_kind text check (index_kind in ('halfvec', 'bit')),
  -- The part of the ten nearest rows that searches through the index find: a sample, measured when it was built.
  add column index_recall real check (index_recall between 0 and 1);
update geoembeddings.embeddings_catalogue set index_kind = 'halfvec' where approximate_index;

-- How many rows the index gives for those that are wanted. Bits order rows coarsely, so more of them are ranked again.
create function geoembeddings.fetched_rows(wanted integer, filtered boolean, kind text) returns integer
language sql immutable
as $$
  select case
    when kind = 'bit' then least(greatest(case when filtered then 800 else 400 end, 40 * wanted), wanted + 3000)
    else least(greatest(case when filtered then 400 else 100 end, 10 * wanted), wanted + 1000)
  end
$$;
drop function geoembeddings.fetched_rows(integer, boolean);

-- The expression that an index is made over, of `operand`, a vector expression. Bits are signs of what is left of a direction
-- when the mean direction of the table is taken away: without that most dimensions would have one sign.
create function geoembeddings.indexed_expression(kind text, center text, dims integer, operand text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when kind = 'bit'
    then format('binary_quantize(l2_normalize(%s::vector) - %L::vector)::bit(%s)', operand, center, dims)
    else format('%s::halfvec(%s)', operand, dims) end
$$;

-- Rows near a vector by the index of a table: some times those that are wanted, to be ranked by full precision. Null when
-- the index ran out before.
create function geoembeddings.candidates(
  target regclass, dims integer, metric text, query_vector vector, label_name text, area geometry, wanted integer
) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
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
    case when area is null then '' else 'and st_intersects(t.geom, $3)' end,
    geoembeddings.indexed_expression(kind, about ->> 'center', dims, 't.embedding'),
    case when kind = 'bit' then '<~>' when metric = 'l2' then '<->' else '<=>' end,
    geoembeddings.indexed_expression(kind, about ->> 'center', dims, '$1'))
  into chosen using query_vector, label_name, area, fetched;
  return case when cardinality(chosen) >= wanted then chosen end;
end
$$;

-- Every tile that resembles the query vector at least as much as the threshold says, best first, by the metric of its
-- table. Exact where the filters leave few enough rows, or no limit is given. Otherwise the index gives some times the rows
-- that are wanted by an iterative scan, and they are ranked again in full precision: recall is lost by stopping early, not by
-- the order of the graph. Where the index runs out before, the exact scan answers.
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
  area geometry := geoembeddings.as_4326(spatial_filter, srid);
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
    chosen := geoembeddings.candidates(format('geoembeddings.%I', entry.table_name)::regclass, entry.dims, entry.metric,
      query_vector, label_name, area, wanted);
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

revoke all on function
  geoembeddings.fetched_rows(integer, boolean, text),
  geoembeddings.indexed_expression(text, text, integer, text),
  geoembeddings.candidates(regclass, integer, text, vector, text, geometry, integer)
from public;

-- A label of few rows is found without a look at every vector, in tables that are there as in those to come.
do $$
declare
  present text;
begin
  for present in
    select c.table_name from geoembeddings.embeddings_catalogue c
    join pg_attribute a on a.attrelid = to_regclass(format('geoembeddings.%I', c.table_name)) and a.attname = 'label_name'
  loop
    execute format('create index on geoembeddings.%I (label_name) where label_name is not null', present);
  end loop;
end
$$;
