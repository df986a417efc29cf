-- How many rows the index gives, by the kind of filter.
set local search_path = pg_catalog, public, extensions;

-- Rows that the index gives for those that are wanted. Bits order rows coarsely, so more of them are ranked again. Under an area more still:
-- what is similar lies together, so the rows of an area are often far from the query, where bits tell them apart badly. Of a million rows of 384
-- dimensions an area of a tenth had recall 0.88 with 400 rows; labels, times and sources had 0.99 and more, at half of the time of 800.
drop function geoembeddings.fetched_rows(integer, boolean, text);
create function geoembeddings.fetched_rows(wanted integer, filtered boolean, kind text, by_area boolean) returns integer
language sql immutable
as $$
  select case
    when kind = 'bit' then least(greatest(case when by_area then 800 else 400 end, 40 * wanted), wanted + 3000)
    else least(greatest(case when filtered then 400 else 100 end, 10 * wanted), wanted + 1000)
  end
$$;

-- Functions that ask for these rows. For the newest rows the index is asked for one and a half times as many of all ages, three times under an
-- area, and for twelve times as many where too few of them are the newest.
do $$
declare
  changes text[] := array[
    ['geoembeddings.candidates', 'fetched_rows(asked, filtered, kind)', 'fetched_rows(asked, filtered, kind, area is not null)'],
    ['geoembeddings.candidates', 'array[3 * wanted, 12 * wanted]', 'array[case when area is null then wanted * 3 / 2 else wanted * 3 end, wanted * 12]'],
    ['geoembeddings.search_vector', 'label_name is not null and area is null)', 'label_name is not null and area is null, area is not null)']];
  body text;
begin
  for i in 1 .. array_length(changes, 1) loop
    body := pg_get_functiondef(changes[i][1]::regproc);
    if strpos(body, changes[i][2]) = 0 then
      raise exception '% has no %', changes[i][1], changes[i][2];
    end if;
    execute replace(body, changes[i][2], changes[i][3]);
  end loop;
end
$$;

-- Whether the index answers sooner than the exact scan of the rows that the filters leave; 0400 tells the costs.
drop function geoembeddings.index_is_faster(geoembeddings.embeddings_catalogue, double precision, integer, boolean, boolean);
create function geoembeddings.index_is_faster(
  entry geoembeddings.embeddings_catalogue, remaining double precision, wanted integer, filtered boolean,
  scattered boolean default false, by_area boolean default false
) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.scan_cost > geoembeddings.exact_budget() * greatest(1, c.rows_passed / c.rows_per_budget)
  from (
    select remaining * (entry.dims + 128) + case when scattered then geoembeddings.cost_of_pages(entry, remaining) else 0 end as scan_cost,
      geoembeddings.fetched_rows(wanted, filtered, coalesce(entry.index_kind, 'halfvec'), by_area)
        * case when filtered then 2 else 1 end * entry.rows / greatest(remaining, 1) as rows_passed,
      case entry.index_kind when 'bit' then 6800 else 3400 end as rows_per_budget
  ) c
$$;

revoke all on function
  geoembeddings.fetched_rows(integer, boolean, text, boolean),
  geoembeddings.index_is_faster(geoembeddings.embeddings_catalogue, double precision, integer, boolean, boolean, boolean)
from public, anon, authenticated;

-- A function that may be unsafe in a worker keeps the whole query of an exact scan from running in parallel. The scan of an area of 100,000 rows
-- of 384 dimensions took 150 ms of processor time in one process.
alter function geoembeddings.as_similarity(double precision, text) parallel safe;
alter function geoembeddings.overlap_of(geometry, geometry) parallel safe;
