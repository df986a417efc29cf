-- State of functions: keys and values of Deno KV, of Workers' KV and of caches.

create table terrane.state (
  -- `fn:` and a function with the name that it gives, `cache:` likewise, `kv:` and a namespace of Workers.
  store text collate "C" not null,
  key bytea not null,
  -- How the value is read: `v8` (structured clone), `u64` (its digits) or `raw`.
  kind text not null,
  value bytea not null,
  metadata json,
  -- Rises with every commit of a store.
  version bigint not null,
  expires_at timestamptz,
  primary key (store, key)
);
create index state_expired on terrane.state (store, expires_at) where expires_at is not null;
create sequence terrane.state_versions;
revoke all on terrane.state, terrane.state_versions from public;

-- Entries of a store as JSON, until they have 4 MiB together: at least one of them.
create function terrane.state_entries(wanted_store text, first bytea, past bytea, most integer, backward boolean) returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with found as (
    select s.*, row_number() over (order by case when backward then null else key end, key desc) as place
    from terrane.state s
    where store = wanted_store and key >= first and key < past and (expires_at is null or expires_at > clock_timestamp())
    order by case when backward then null else key end, key desc
    limit least(most, 1000)
  ), summed as (
    select f.*, sum(octet_length(value)) over (order by place) as bytes from found f
  )
  select coalesce(json_agg(json_build_object(
    'key', encode(key, 'hex'), 'kind', kind, 'value', replace(encode(value, 'base64'), E'\n', ''), 'metadata', metadata,
    'versionstamp', lpad(to_hex(version), 20, '0'), 'expires', extract(epoch from expires_at)
  ) order by place), '[]') from summed where place = 1 or bytes <= 4194304
$$;

-- The value after a mutation of an unsigned number of 64 bits; without one before, the operand itself.
create function terrane.state_reckon(operation text, kind text, value bytea, operand numeric) returns numeric
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  before numeric;
begin
  if operand is null or operand < 0 or operand > 18446744073709551615 then
    raise exception using errcode = '22023', message = format('the operand of %s is an unsigned number of 64 bits', operation);
  end if;
  if value is null then
    return operand;
  end if;
  if kind <> 'u64' then
    raise exception using errcode = '22023', message = format('Failed to perform ''%s'' mutation on a non-U64 value in the database', operation);
  end if;
  before := convert_from(value, 'UTF8')::numeric;
  return case operation when 'sum' then mod(before + operand, 18446744073709551616) when 'min' then least(before, operand) else greatest(before, operand) end;
end
$$;

-- Writes in one transaction what a store is asked for. Returns the versionstamp, or null where a check failed.
create function terrane.state_write(wanted_store text, request jsonb) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  most_key constant integer := 2048;
  most_value constant integer := 1048576;
  item jsonb;
  wanted_key bytea;
  found terrane.state;
  next_version bigint;
  next_kind text;
  next_value bytea;
begin
  if jsonb_array_length(request->'checks') > 100 or jsonb_array_length(request->'writes') > 1000
     or jsonb_array_length(request->'sends') > 1000 then
    raise exception using errcode = '22023', message = 'a commit has at most 100 checks, 1000 mutations and 1000 messages';
  end if;
  -- Commits of one store come one after the other, so versions rise in the order of commits.
  perform pg_advisory_xact_lock(hashtextextended('terrane.state ' || wanted_store, 0));
  delete from terrane.state where ctid in (
    select ctid from terrane.state where store = wanted_store and expires_at <= clock_timestamp() limit 200);
  for item in select * from jsonb_array_elements(request->'checks') loop
    select * into found from terrane.state s
    where s.store = wanted_store and s.key = decode(item->>'key', 'hex') and (s.expires_at is null or s.expires_at > clock_timestamp());
    if lpad(to_hex(found.version), 20, '0') is distinct from item->>'versionstamp' then
      return null;
    end if;
  end loop;
  next_version := nextval('terrane.state_versions');
  for item in select * from jsonb_array_elements(request->'writes') loop
    wanted_key := decode(item->>'key', 'hex');
    if wanted_key is null or octet_length(wanted_key) = 0 or octet_length(wanted_key) > most_key then
      raise exception using errcode = '22023', message = format('a key has 1 to %s bytes', most_key);
    end if;
    if item->>'operation' = 'delete' then
      delete from terrane.state s where s.store = wanted_store and s.key = wanted_key;
      continue;
    end if;
    next_kind := item->>'kind';
    if item->>'operation' = 'set' then
      next_value := decode(item->>'value', 'base64');
    else
      select * into found from terrane.state s
      where s.store = wanted_store and s.key = wanted_key and (s.expires_at is null or s.expires_at > clock_timestamp());
      next_kind := 'u64';
      next_value := convert_to(
        terrane.state_reckon(item->>'operation', found.kind, found.value, (item->>'operand')::numeric)::text, 'UTF8');
    end if;
    if next_value is null or octet_length(next_value) > most_value or octet_length(item->>'metadata') > 4096 then
      raise exception using errcode = '22023', message = format('a value has at most %s bytes, and its metadata 4096', most_value);
    end if;
    insert into terrane.state as s (store, key, kind, value, metadata, version, expires_at)
    values (wanted_store, wanted_key, next_kind, next_value, (item->'metadata')::json, next_version,
      clock_timestamp() + make_interval(secs => (item->>'expires_in')::double precision))
    on conflict (store, key) do update
    set kind = excluded.kind, value = excluded.value, metadata = excluded.metadata, version = excluded.version, expires_at = excluded.expires_at;
  end loop;
  for item in select * from jsonb_array_elements(request->'sends') loop
    perform terrane.send(item->>'queue', item->'body', make_interval(secs => (item->>'delay_seconds')::double precision));
  end loop;
  return lpad(to_hex(next_version), 20, '0');
end
$$;

-- What the host of functions asks of a store, over /rest/v1/rpc/state: `get` keys, `list` a range, or `write`.
create function geoembeddings.state(store text, request jsonb) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  operation text := request->>'operation';
begin
  if store is null or store !~ '^(fn|cache|kv):' or octet_length(store) > 1000 then
    raise exception using errcode = '22023', message = 'store is `fn:`, `cache:` or `kv:` and a name';
  end if;
  case operation
    when 'get' then
      return (select coalesce(json_agg(entry.value), '[]') from jsonb_array_elements_text(request->'keys') with ordinality as k(key, place),
        lateral json_array_elements(terrane.state_entries(store, decode(k.key, 'hex'), decode(k.key || '00', 'hex'), 1, false)) as entry
        where k.place <= 100);
    when 'list' then
      return terrane.state_entries(store, decode(request->>'first', 'hex'), decode(request->>'past', 'hex'),
        greatest(1, (request->>'limit')::integer), (request->>'reverse')::boolean);
    when 'write' then
      return to_json(terrane.state_write(store, request));
    else
      raise exception using errcode = '22023', message = 'operation is get, list or write';
  end case;
end
$$;
revoke all on function terrane.state_entries(text, bytea, bytea, integer, boolean), terrane.state_reckon(text, text, bytea, numeric),
  terrane.state_write(text, jsonb), geoembeddings.state(text, jsonb) from public, anon, authenticated;
grant execute on function geoembeddings.state(text, jsonb) to service_role;
