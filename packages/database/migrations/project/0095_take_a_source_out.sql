-- A source is taken out of a table, with its rows.
set local search_path = public, extensions;

-- Removes the rows of a source and what is known of it; returns how many rows there were. Of the owner of the table and the
-- service role. An append of the same raster brings it back.
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

revoke all on function geoembeddings.remove_source(text, integer) from public;
grant execute on function geoembeddings.remove_source(text, integer) to authenticated, service_role;
