-- Sources of an embedding table: listing, choosing and removing them; and removing a table.

-- Sources of a table that its readers search by: numbers, dates and rows. Their names are for the owner.
create function geoembeddings.list_sources(table_name text)
returns table (source integer, datetime timestamptz, rows bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.source, s.datetime, s.rows
  from geoembeddings.embedding_sources s
  join geoembeddings.embeddings_catalogue c on c.table_name = s.table_name
  where s.table_name = list_sources.table_name and s.status = 'done' and geoembeddings.can_read(c.owner, c.is_public)
  order by s.source
$$;

-- A few sources of a table as text, for errors.
create function geoembeddings.describe_sources(entry geoembeddings.embeddings_catalogue, chosen integer[]) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce('Sources of "' || entry.table_name || '": ' || string_agg(
    format('%s (%s)', s.source, coalesce(to_char(s.datetime at time zone 'UTC', 'YYYY-MM-DD'), 'no date')), ', ' order by s.source), '')
  from (
    select e.source, e.datetime from geoembeddings.list_sources(entry.table_name) e
    where chosen is null or e.source = any(chosen)
    order by e.source limit 10
  ) s
$$;

-- Sources of a table in a time (inclusive) and by number; null, which stands for all, when no condition is given.
create function geoembeddings.sources_in(
  entry geoembeddings.embeddings_catalogue, since timestamptz, until timestamptz, sources integer[]
) returns integer[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when num_nonnulls(since, until, sources) > 0 then coalesce(array_agg(s.source order by s.source), '{}') end
  from geoembeddings.list_sources(entry.table_name) s
  where num_nonnulls(since, until, sources) > 0 and (since is null or s.datetime >= since) and (until is null or s.datetime <= until)
    and (sources is null or s.source = any(sources))
$$;

-- Sources of a table in a time, of a day (UTC) and by number; null, which stands for all, when no condition is given.
create function geoembeddings.part_of(
  entry geoembeddings.embeddings_catalogue, since timestamptz, until timestamptz, day date, sources integer[]
) returns integer[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  chosen integer[];
begin
  if num_nonnulls(since, until, day, sources) = 0 then
    return null;
  end if;
  select array_agg(s.source) into chosen from geoembeddings.list_sources(entry.table_name) s
  where (since is null or s.datetime >= since) and (until is null or s.datetime <= until)
    and (day is null or (s.datetime at time zone 'UTC')::date = day)
    and (sources is null or s.source = any(sources));
  if chosen is null then
    raise exception using errcode = '22023',
      message = format('embedding table "%s" has no source of that date, time or number', entry.table_name),
      detail = geoembeddings.describe_sources(entry, null),
      hint = 'POST /rest/v1/rpc/list_sources with Content-Profile: geoembeddings lists them.';
  end if;
  return chosen;
end
$$;

-- The condition that a row `t` is of some sources, by ranges of ids, which use the primary key.
create function geoembeddings.rows_of_sources(part integer[]) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when part is null then '' else 'and (' || coalesce((
    select string_agg(format('t.id >= %s and t.id < %s', r.first::bigint << 32, (r.last + 1)::bigint << 32), ' or ' order by r.first)
    from (
      select min(n.source) as first, max(n.source) as last
      from (select s.source, s.source - row_number() over (order by s.source) as run
            from (select distinct unnest(part) as source) s) n
      group by n.run
    ) r), 'false') || ')' end
$$;

-- The part of a table's rows that some sources hold, 0 to 1.
create function geoembeddings.share_of_sources(entry geoembeddings.embeddings_catalogue, part integer[])
returns double precision
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when part is null then 1 else coalesce((
    select least(1, sum(s.rows)::double precision / nullif(entry.rows, 0)) from geoembeddings.list_sources(entry.table_name) s
    where s.source = any(part)), 0) end
$$;

-- Removes a source with its rows; returns how many rows there were. For the owner of the table and the service role. An append of the
-- same raster brings it back.
create function geoembeddings.remove_source(table_name text, source integer) returns bigint
language plpgsql security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(table_name);
  removed bigint;
begin
  if not geoembeddings.can_write(entry.owner) then
    raise exception using errcode = '42501', message = format('embedding table "%s" is not yours to change', entry.table_name),
      hint = 'Use the service role key, or the token of the user who owns it.';
  end if;
  -- An append holds the same row.
  perform from geoembeddings.embeddings_catalogue c where c.table_name = entry.table_name for update;
  if not exists (select from geoembeddings.embedding_sources s where s.table_name = entry.table_name and s.source = remove_source.source) then
    raise exception using errcode = 'PT404', message = format('embedding table "%s" has no source %s', entry.table_name, source),
      detail = geoembeddings.describe_sources(entry, null),
      hint = 'GET /rest/v1/embedding_sources with Accept-Profile: geoembeddings lists them.';
  end if;
  if not exists (select from geoembeddings.embedding_sources s
      where s.table_name = entry.table_name and s.source <> remove_source.source and s.status = 'done' and s.rows > 0) then
    raise exception using errcode = '22023', message = format('source %s is the last one of embedding table "%s"', source, entry.table_name),
      hint = 'Delete the table in its place: delete_embedding_table.';
  end if;
  execute format('delete from geoembeddings.%I t where t.id >= $1 and t.id < $2', entry.table_name)
  using source::bigint << 32, (source + 1)::bigint << 32;
  get diagnostics removed = row_count;
  -- Its number is not given to another source.
  update geoembeddings.embeddings_catalogue c
  set metadata = c.metadata || jsonb_build_object('next_source', greatest((c.metadata ->> 'next_source')::integer,
    (select max(s.source) + 1 from geoembeddings.embedding_sources s where s.table_name = c.table_name)))
  where c.table_name = entry.table_name;
  delete from geoembeddings.embedding_sources s where s.table_name = entry.table_name and s.source = remove_source.source;
  update geoembeddings.embeddings_catalogue c
  set rows = c.rows - removed,
    zero_vectors = (select coalesce(sum(s.zero_vectors), 0) from geoembeddings.embedding_sources s where s.table_name = c.table_name),
    bbox = (select array[min(s.bbox[1]), min(s.bbox[2]), max(s.bbox[3]), max(s.bbox[4])]
      from geoembeddings.embedding_sources s where s.table_name = c.table_name and s.status = 'done' and s.bbox is not null)
  where c.table_name = entry.table_name;
  return removed;
end
$$;

-- Drops an embedding table and its catalogue row. Returns the name.
create function geoembeddings.delete_embedding_table(p_table_name text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  entry geoembeddings.embeddings_catalogue := geoembeddings.readable(p_table_name);
begin
  if not geoembeddings.can_write(entry.owner) then
    raise exception using errcode = '42501', message = format('embedding table "%s" is not yours to delete', p_table_name),
      hint = 'Use the service role key, or the token of the user who owns it.';
  end if;
  delete from geoembeddings.embeddings_catalogue c where c.table_name = p_table_name;
  execute format('drop table if exists geoembeddings.%I', p_table_name);
  return p_table_name;
end
$$;
