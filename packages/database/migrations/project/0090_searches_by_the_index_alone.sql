-- Candidates come from the vector index and from nothing else, and areas of a tenth are left to the exact scan sooner.
set local search_path = public, extensions;

-- Left to itself the planner sorts what the index of areas or labels finds, after a look at each geometry: where the filter keeps
-- a tenth that takes three times as long as the exact scan, which looks at the geometry of the nearest alone.
alter function geoembeddings.candidates(regclass, integer, text, vector, text, geometry, integer) set enable_sort = off;

-- As before, but the index is taken to pass over twice the rows that the share of the filter lets expect: tiles go with their
-- place, so an area seldom holds its share of what resembles the query.
create or replace function geoembeddings.index_is_faster(
  entry geoembeddings.embeddings_catalogue, remaining double precision, wanted integer, filtered boolean
) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select remaining * (entry.dims + 128) > geoembeddings.exact_budget() * greatest(1,
    geoembeddings.fetched_rows(wanted, filtered, coalesce(entry.index_kind, 'halfvec'))
      * (case when filtered then 2 else 1 end) * entry.rows / greatest(remaining, 1) / 3400)
$$;
