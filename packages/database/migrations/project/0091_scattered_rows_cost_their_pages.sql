-- Rows of a label lie anywhere in the table, each in a page of its own: to fetch these pages takes longer than the distances do, above
-- all where they are more than the server keeps.
set local search_path = public, extensions;

-- What fetching scattered rows costs beside their distances, in the unit of the budget, of which the distance of a row of 384
-- dimensions takes 512, or 1 µs: 2 µs for a page that half of the server's buffers hold with all others, 4 µs for one that comes from
-- the system. Of a million rows of 384 dimensions those of a label that keeps a tenth took 612 ms with buffers of 512 MB and 329 ms
-- with 4 GB; through the index they take 157.
create function geoembeddings.cost_of_pages(
  entry geoembeddings.embeddings_catalogue, remaining double precision
) returns double precision
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select least(remaining, c.relpages) * case
    when least(remaining, c.relpages) * current_setting('block_size')::int
      > 0.5 * pg_size_bytes(current_setting('shared_buffers')) then 1800
    else 800 end
  from pg_class c where c.oid = to_regclass(format('geoembeddings.%I', entry.table_name))
$$;

-- As before, with the pages of rows that are scattered over the table.
drop function geoembeddings.index_is_faster(geoembeddings.embeddings_catalogue, double precision, integer, boolean);

create function geoembeddings.index_is_faster(
  entry geoembeddings.embeddings_catalogue, remaining double precision, wanted integer, filtered boolean,
  scattered boolean default false
) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select remaining * (entry.dims + 128) + case when scattered then geoembeddings.cost_of_pages(entry, remaining) else 0 end
    > geoembeddings.exact_budget() * greatest(1,
      geoembeddings.fetched_rows(wanted, filtered, coalesce(entry.index_kind, 'halfvec'))
        * (case when filtered then 2 else 1 end) * entry.rows / greatest(remaining, 1) / 3400)
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
    entry, geoembeddings.estimate_rows(entry, label_name, area), wanted, label_name is not null or area is not null,
    label_name is not null and area is null);
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
  geoembeddings.cost_of_pages(geoembeddings.embeddings_catalogue, double precision),
  geoembeddings.index_is_faster(geoembeddings.embeddings_catalogue, double precision, integer, boolean, boolean)
from public;
