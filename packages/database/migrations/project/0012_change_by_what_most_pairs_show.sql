-- Changes are ranked by change_z unless the caller wants change_score: light or a gain that lies over the whole scene, and a
-- shift of a pixel, then rank no unchanged tile above a changed one. Pairs that have no change_z, because there are fewer
-- than 20, come by their similarity, as do those that share one.
set local search_path = public, extensions;

create or replace function geoembeddings.change_detection(
  table_name_1 text, table_name_2 text, label_name text default null, similarity_threshold double precision default null,
  result_limit integer default null, result_offset integer default 0, include_geom boolean default false,
  include_embeddings boolean default false, spatial_filter geometry default null, srid integer default 4326,
  order_by text default 'change_z'
) returns table (
  id bigint, change_score double precision, similarity double precision, change_z double precision,
  overlap double precision, geom geometry, embedding vector
)
language plpgsql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  a geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_1);
  b geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name_2);
begin
  perform geoembeddings.check_page(result_limit, result_offset, similarity_threshold);
  perform geoembeddings.check_comparable(a, b);
  if order_by is null or order_by not in ('change_score', 'change_z') then
    raise exception using errcode = '22023', message = 'order_by must be change_score or change_z';
  end if;
  return query execute format(
    'with pairs as materialized (
       select p.id, p.distance, p.overlap, p.first,
         case $8 when ''l2'' then p.second - p.first else l2_normalize(p.second) - l2_normalize(p.first) end as difference
       from geoembeddings.pair_tables($1, $2, $3, $4, $5) p
     ), numbered as materialized (
       select p.difference, row_number() over (order by p.id) - 1 as place, count(*) over () as pairs from pairs p
     ), sample as materialized (
       select difference from numbered where place %% greatest(1, (pairs + 499) / 500) = 0 and pairs >= 20
     ), middle as materialized (
       select u.d, percentile_cont(0.5) within group (order by u.v) as m
       from sample s cross join lateral unnest(s.difference::real[]) with ordinality u(v, d) group by u.d
     ), spread as materialized (
       select u.d, 1.4826 * percentile_cont(0.5) within group (order by abs(u.v - middle.m)) as s
       from sample s cross join lateral unnest(s.difference::real[]) with ordinality u(v, d) join middle using (d)
       group by u.d
     ), model as materialized (
       select array_agg(middle.m order by d) as m,
         -- A dimension that hardly ever differs is held to a tenth of the usual spread, not to none.
         array_agg(greatest(spread.s, (select 0.1 * avg(e.s) from spread e)) order by d) as s
       from middle join spread using (d)
     ), chosen as (
       select p.*, geoembeddings.as_similarity(p.distance, $8) as similarity from pairs p
       where $9 is null or geoembeddings.as_similarity(p.distance, $8) >= $9
       %s
     ), scored as materialized (
       select c.id, c.similarity, c.overlap, c.first,
         (select sqrt(avg(case
             when u.m is null then null
             when u.s > 0 then least(64, ((u.v - u.m) / u.s) ^ 2)
             when u.v = u.m then 0
             else 64 end))
          from model cross join lateral unnest(c.difference::real[], model.m, model.s) u(v, m, s)) as change_z
       from chosen c
     )
     select s.id, 1 - s.similarity, s.similarity, s.change_z, s.overlap, %s, %s
     from scored s %s order by %s',
    -- Scores cost time per row: in the order of change_score only the rows of the page get one.
    case order_by when 'change_z' then '' else 'order by p.distance desc, p.id limit $6 offset $7' end,
    case when include_geom then 'st_transform(t.geom, $5)' else 'null::geometry' end,
    case when include_embeddings then 's.first' else 'null::vector' end,
    case when include_geom then format('join geoembeddings.%I t using (id)', a.table_name) else '' end,
    case order_by when 'change_z' then 's.change_z desc nulls last, s.similarity, s.id limit $6 offset $7'
      else 's.similarity, s.id' end
  ) using a, b, label_name, spatial_filter, srid, result_limit, coalesce(result_offset, 0), a.metric,
    similarity_threshold;
end
$$;
