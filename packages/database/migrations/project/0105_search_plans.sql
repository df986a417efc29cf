-- How a search runs: the exact scan or the vector index, and the rows that either finds.
-- Managed servers keep PostGIS and pgvector in a schema of their own.
set local search_path = pg_catalog, public, extensions;

-- Rows that the exact scan may compare, times the dimensions of each with the fixed cost of a row: about 60 ms on one
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

-- Rows that the index gives for those that are wanted. Bits order rows coarsely, so more of them are ranked again.
create function geoembeddings.fetched_rows(wanted integer, filtered boolean, kind text) returns integer
language sql immutable
as $$
  select case
    when kind = 'bit' then least(greatest(case when filtered then 800 else 400 end, 40 * wanted), wanted + 3000)
    else least(greatest(case when filtered then 400 else 100 end, 10 * wanted), wanted + 1000)
  end
$$;

-- Cost of fetching scattered rows beside their distances, in the unit of the budget, in which the distance of a row of 384 dimensions
-- takes 512, or 1 µs: 2 µs for a page that half of the server's buffers hold with all others, 4 µs for one that comes from the system.
-- Of a million rows of 384 dimensions those of a label that keeps a tenth took 612 ms with buffers of 512 MB and 329 ms with 4 GB;
-- through the index they take 157.
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

-- Whether the index answers sooner than the exact scan of the rows that the filters leave. The index passes over the rows of
-- the whole table in the order of likeness until it has found enough that the filters keep: of 250,000 rows of 1,024 dimensions
-- it took 12 to 15 µs for each, so the budget of the exact scan pays for 3,400 of them, a quarter of the time left for areas that
-- hold little of what the query resembles. Under a filter it is taken to pass over twice the rows that the share of the filter lets
-- expect: tiles go with their place, so an area seldom holds its share. Rows of a label are scattered, each in a page of its own.
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

-- The expression that an index is made over, of `operand`, a vector expression. An index says in its comment what it is:
-- {"kind": "bit", "center": "[…]", "recall": 0.99}; one without a comment is over halfvec. Bits are signs of what is left of a direction
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
-- the index ran out before. Most rows that a small area leaves out are told by their boxes, at a tenth of the cost. Compiling
-- the query would take longer than it runs.
create function geoembeddings.candidates(
  target regclass, dims integer, metric text, query_vector vector, label_name text, area geometry, wanted integer, part integer[] default null
) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
set jit = off
-- Without it the planner sorts what the indexes of areas and labels find, after a look at each geometry: three times as slow as the
-- exact scan where the filter keeps a tenth.
set enable_sort = off
as $$
declare
  about jsonb := (
    select obj_description(i.indexrelid, 'pg_class')::jsonb
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
    where i.indrelid = target and a.amname = 'hnsw' order by i.indexrelid limit 1);
  kind text := coalesce(about ->> 'kind', 'halfvec');
  filtered boolean := label_name is not null or area is not null or part is not null;
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
    'select array_agg(c.id) from (select t.id from %s t where true %s %s %s order by (%s) %s (%s) limit $4) c',
    target,
    case when label_name is null then '' else 'and t.label_name = $2' end,
    case when area is null then '' else 'and t.geom && $3 and st_intersects(t.geom, $3)' end,
    geoembeddings.rows_of_sources(part),
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
create function geoembeddings.search_vector(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, part integer[]
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
    entry, geoembeddings.estimate_rows(entry, label_name, area) * geoembeddings.share_of_sources(entry, part), wanted,
    label_name is not null or area is not null or part is not null, label_name is not null and area is null);
  operator text := case entry.metric when 'l2' then '<->' else '<=>' end;
  threshold double precision := coalesce(similarity_threshold, 0);
  filters text := case when label_name is null then '' else ' and t.label_name = $2' end
    || case when area is null then '' else ' and t.geom && $3' end
    || ' ' || geoembeddings.rows_of_sources(part);
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
      query_vector, label_name, area, wanted, part);
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

-- Rows of a search that are unlike each other (maximal marginal relevance, Carbonell and Goldstein 1998): of
-- the 200 best rows the next is always the one with the greatest
-- (1 - variety) * similarity - variety * (its similarity to the most similar row chosen before).
create function geoembeddings.search_varied(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, variety double precision, part integer[]
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
    spatial_filter, srid, exact, part) s;
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

-- Rows that a search by a vector answers with, however the vector was made.
create function geoembeddings.search_by(
  entry geoembeddings.embeddings_catalogue, query_vector vector, label_name text, similarity_threshold double precision,
  result_limit integer, result_offset integer, include_geom boolean, include_embeddings boolean,
  spatial_filter geometry, srid integer, exact boolean, variety double precision, part integer[]
) returns table (id bigint, similarity double precision, geom geometry, embedding vector)
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  if coalesce(variety, 0) = 0 then
    return query select * from geoembeddings.search_vector(entry, query_vector, label_name, similarity_threshold, result_limit,
      result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, part);
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
    result_offset, include_geom, include_embeddings, spatial_filter, srid, exact, variety, part);
end
$$;
