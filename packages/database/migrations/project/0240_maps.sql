-- Maps of a project: MapLibre styles that people edit, keep and show.

create table geoembeddings.maps (
  id uuid primary key default gen_random_uuid(),
  title text not null check (length(title) between 1 and 200),
  -- What MapLibre has no word for lies in metadata["terrane:map"].
  style jsonb not null check (jsonb_typeof(style) = 'object' and octet_length(style::text) <= 1048576),
  version integer not null default 1,
  -- The user who made it; null for one that belongs to the project.
  owner_uuid uuid,
  is_public boolean not null default false,
  -- What was published, the key that stands in its URLs, and the origins of pages that may use it. Later saves stay private.
  published_title text,
  published_style jsonb check (octet_length(published_style::text) <= 1048576),
  publishable_key text,
  origins text[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check (not is_public or (published_title is not null and published_style is not null))
);

-- What of public maps everyone reads, with the rights of its owner: of maps themselves a caller reads its own alone.
create view geoembeddings.public_maps with (security_barrier) as
  select id, published_title as title, published_style as style, publishable_key, origins
  from geoembeddings.maps where is_public;

-- What each save wrote; the latest hundred of a map.
create table geoembeddings.map_versions (
  map_id uuid not null references geoembeddings.maps on delete cascade,
  version integer not null,
  title text not null,
  style jsonb not null,
  saved_at timestamptz not null default clock_timestamp(),
  primary key (map_id, version)
);

alter table geoembeddings.maps enable row level security;
create policy own on geoembeddings.maps for select using (geoembeddings.can_write(owner_uuid));
create policy own_insert on geoembeddings.maps for insert with check (geoembeddings.can_write(owner_uuid));
create policy own_update on geoembeddings.maps for update
  using (geoembeddings.can_write(owner_uuid)) with check (geoembeddings.can_write(owner_uuid));
create policy own_delete on geoembeddings.maps for delete using (geoembeddings.can_write(owner_uuid));
grant select on geoembeddings.maps to authenticated, service_role;
grant select on geoembeddings.public_maps to anon, authenticated, service_role;
grant delete, insert (id, title, style, owner_uuid), update (title, style, version, updated_at)
  on geoembeddings.maps to authenticated, service_role;
-- Who publishes a map also makes its key and lets anon read its tables.
grant update (is_public, published_title, published_style, publishable_key, origins) on geoembeddings.maps to service_role;

alter table geoembeddings.map_versions enable row level security;
create policy own on geoembeddings.map_versions for select using (exists (
  select from geoembeddings.maps m where m.id = map_id and geoembeddings.can_write(m.owner_uuid)));
grant select on geoembeddings.map_versions to authenticated, service_role;

create function geoembeddings.keep_map_version() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into geoembeddings.map_versions (map_id, version, title, style) values (new.id, new.version, new.title, new.style)
    on conflict (map_id, version) do nothing;
  delete from geoembeddings.map_versions where map_id = new.id and version <= new.version - 100;
  return null;
end
$$;
create trigger keep_version after insert or update of title, style on geoembeddings.maps
  for each row execute function geoembeddings.keep_map_version();

-- A public map that is gone leaves nothing that says which key to revoke.
create function geoembeddings.refuse_public_map() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if old.is_public then
    raise exception using errcode = 'PT409', message = format('the map %s is public', old.id),
      hint = 'Make it private in the console first, which revokes its key.';
  end if;
  return old;
end
$$;
create trigger refuse_public before delete on geoembeddings.maps
  for each row execute function geoembeddings.refuse_public_map();

-- Saves a map: a new one as version 1 where p_version is 0, else what comes after p_version. One that was saved since is not
-- overwritten (409). The same save sent twice is one save.
create function geoembeddings.save_map(p_id uuid, p_version integer, p_title text, p_style jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  saved geoembeddings.maps;
begin
  if p_id is null or p_version is null or p_version < 0 then
    raise exception using errcode = '22023', message = 'p_id and p_version are needed',
      hint = 'p_version is the version that was edited; 0 makes a map.';
  end if;
  if p_version = 0 then
    insert into geoembeddings.maps (id, title, style, owner_uuid) values (p_id, p_title, p_style, geoembeddings.caller_id())
      on conflict (id) do nothing returning * into saved;
  else
    update geoembeddings.maps set title = p_title, style = p_style, version = version + 1, updated_at = clock_timestamp()
      where id = p_id and version = p_version returning * into saved;
  end if;
  if saved.id is null then
    select * into saved from geoembeddings.maps where id = p_id;
    if not found or not geoembeddings.can_write(saved.owner_uuid) then
      raise exception using errcode = 'PT404', message = format('there is no map %s that you may change', p_id);
    end if;
    if saved.version <> p_version + 1 or saved.title <> p_title or saved.style <> p_style then
      raise exception using errcode = 'PT409', message = format('the map was saved as version %s since version %s', saved.version, p_version),
        hint = 'Read the map again and make your change in it, or save yours as another map.';
    end if;
  end if;
  return jsonb_build_object('id', saved.id, 'version', saved.version, 'updated_at', saved.updated_at);
end
$$;

-- Rows of a class need a number as tiles carry it: of a column of numbers that the caller may read, null where it is not
-- finite. Of others it tells no more than of those that are not there.
create function geoembeddings.number_sql(p_schema text, p_table text, p_column text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  kind text;
begin
  select t.typname into kind from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type t on t.oid = a.atttypid
    where n.nspname = p_schema and c.relname = p_table and a.attname = p_column and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select');
  if kind is null then
    raise exception using errcode = '42703', message = format('%s.%s has no column %s that you may read', p_schema, p_table, p_column);
  end if;
  if kind not in ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric') then
    raise exception using errcode = '22023', message = format('p_column %s holds no numbers but %s', p_column, kind);
  end if;
  return format('select case when abs(v) <= 1.7976931348623157e308 then v end as v from (select %I::float8 as v from %I.%I) n',
    p_column, p_schema, p_table);
end
$$;

-- How the numbers of a column are distributed over all rows that the caller may read: extremes, a histogram of 64 equal
-- parts, the values at every 840th of the rows, and the rows of classes that begin at p_breaks (ascending).
create function geoembeddings.number_classes(p_schema text, p_table text, p_column text, p_breaks float8[] default null)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  source text := geoembeddings.number_sql(p_schema, p_table, p_column);
  told jsonb;
  low float8;
  high float8;
  parts bigint[];
  counts bigint[];
begin
  if array_length(p_breaks, 1) > 12 or array_position(p_breaks, null) is not null
    or p_breaks <> array(select distinct b from unnest(p_breaks) b order by b) then
    raise exception using errcode = '22023', message = 'p_breaks are at most 12 ascending numbers';
  end if;
  execute format('select jsonb_build_object(''rows'', count(*), ''missing'', count(*) - count(v), ''low'', min(v), ''high'', max(v),
      ''quantiles'', percentile_disc(array(select i / 840.0::float8 from generate_series(0, 840) i)) within group (order by v))
    from (%s) s', source) into told;
  low := told ->> 'low';
  high := told ->> 'high';
  if low < high then
    -- Halves of what lies between: the difference of two finite numbers may not be finite.
    execute format('select array_agg(coalesce(c, 0) order by i) from generate_series(1, 64) i left join (
        select least(64, 1 + floor(64 * ((v / 2 - $1 / 2) / ($2 / 2 - $1 / 2))))::integer as b, count(*) as c from (%s) s where v is not null group by 1) h on h.b = i', source)
      into parts using low, high;
  end if;
  if p_breaks is not null then
    execute format('select array_agg(coalesce(c, 0) order by i) from generate_series(0, array_length($1, 1)) i left join (
        select width_bucket(v, $1) as b, count(*) as c from (%s) s where v is not null group by 1) h on h.b = i', source)
      into counts using p_breaks;
    -- What lies below the first break is in the first class, as a map draws it.
    counts := array_prepend(counts[1] + counts[2], counts[3:]);
  end if;
  return told || jsonb_build_object('histogram', coalesce(to_jsonb(parts), '[]'), 'counts', coalesce(to_jsonb(counts), '[]'));
end
$$;

revoke all on function geoembeddings.keep_map_version(), geoembeddings.refuse_public_map(), geoembeddings.save_map(uuid, integer, text, jsonb),
  geoembeddings.number_sql(text, text, text), geoembeddings.number_classes(text, text, text, float8[]) from public;
grant execute on function geoembeddings.save_map(uuid, integer, text, jsonb) to authenticated, service_role;
grant execute on function geoembeddings.number_sql(text, text, text), geoembeddings.number_classes(text, text, text, float8[])
  to anon, authenticated, service_role;
