-- State of functions: keys and values of Deno KV and of Workers' KV.

create table terrane.state (
  -- `fn:`, a function, `:` and the name that it gives; or `kv:` and a namespace of Workers.
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
create index state_expired on terrane.state (expires_at) where expires_at is not null;
create sequence terrane.state_versions;
-- What the stores of a function, or a namespace, hold together.
create table terrane.state_sizes (
  owner text collate "C" primary key,
  bytes bigint not null
);
revoke all on terrane.state, terrane.state_sizes, terrane.state_versions from public;

-- Whose a store is: `fn:` and a function, or `kv:` and a namespace.
create function terrane.state_owner(store text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select split_part(store, ':', 1) || ':' || split_part(store, ':', 2) $$;

-- Bytes that an entry counts for, with 100 of its row.
create function terrane.state_bytes(key bytea, value bytea, metadata json) returns bigint
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select (100 + octet_length(key) + coalesce(octet_length(value), 0) + coalesce(octet_length(metadata::text), 0))::bigint $$;

-- An entry as JSON.
create function terrane.state_entry(key bytea, kind text, value bytea, metadata json, version bigint, expires_at timestamptz) returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'key', encode(key, 'hex'), 'kind', kind, 'value', replace(encode(value, 'base64'), E'\n', ''), 'metadata', metadata,
    'versionstamp', lpad(to_hex(version), 20, '0'), 'expires', extract(epoch from expires_at)
  )
$$;

-- The entries of at most 100 keys, which have 4 MiB together: the rest, but for the first one, comes without values and is asked for again.
create function terrane.state_get(wanted_store text, keys jsonb) returns json
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_array_length(keys) > 100 then
    raise exception using errcode = '22023', message = 'at most 100 keys are read at once';
  end if;
  return (
    with found as (
      select s.*, sum(terrane.state_bytes(key, value, s.metadata)) over (order by key) as bytes, row_number() over (order by key) as place
      from terrane.state s
      where store = wanted_store and key in (select decode(k.key, 'hex') from jsonb_array_elements_text(keys) as k(key))
        and (expires_at is null or expires_at > clock_timestamp())
    )
    select coalesce(json_agg(terrane.state_entry(
      key, kind, case when place = 1 or bytes <= 4194304 then value end, metadata, version, expires_at)), '[]') from found
  );
end
$$;

-- Entries of a range in its order, until they have 4 MiB together: at least one of them.
create function terrane.state_list(wanted_store text, request jsonb) returns json
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  first constant bytea := decode(request->>'first', 'hex');
  past constant bytea := decode(request->>'past', 'hex');
  most constant integer := least(greatest(1, (request->>'limit')::integer), 1000);
  with_values constant boolean := coalesce((request->>'values')::boolean, true);
  bytes bigint := 0;
  entries json[] := '{}';
  listed refcursor;
  entry record;
begin
  -- Two queries, each in the order of the index.
  if (request->>'reverse')::boolean then
    open listed for
      select key, kind, case when with_values then value end as value, metadata, version, expires_at from terrane.state
      where store = wanted_store and key >= first and key < past and (expires_at is null or expires_at > clock_timestamp())
      order by key desc limit most;
  else
    open listed for
      select key, kind, case when with_values then value end as value, metadata, version, expires_at from terrane.state
      where store = wanted_store and key >= first and key < past and (expires_at is null or expires_at > clock_timestamp())
      order by key limit most;
  end if;
  loop
    fetch listed into entry;
    exit when not found;
    bytes := bytes + terrane.state_bytes(entry.key, entry.value, entry.metadata);
    exit when bytes > 4194304 and cardinality(entries) > 0;
    entries := entries
      || terrane.state_entry(entry.key, entry.kind, entry.value, entry.metadata, entry.version, entry.expires_at);
  end loop;
  close listed;
  return array_to_json(entries);
end
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

-- Changes what an owner holds, up to a bound. Its lock is held.
create function terrane.state_grow(wanted_owner text, change bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  most_bytes constant bigint := 1073741824;
  held bigint;
begin
  if change = 0 then
    return;
  end if;
  insert into terrane.state_sizes as z (owner, bytes) values (wanted_owner, change)
  on conflict (owner) do update set bytes = z.bytes + excluded.bytes returning z.bytes into held;
  if change > 0 and held > most_bytes then
    raise exception using errcode = '22023',
      message = format('the state of a function, or of a namespace, has at most %s bytes: delete entries, or let them expire', most_bytes);
  end if;
end
$$;

-- Deletes expired entries of an owner whose lock is held, and of others that nothing is written to at this moment.
create function terrane.state_sweep(own text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  with expired as materialized (
    select store, key from terrane.state where expires_at <= clock_timestamp() order by expires_at limit 200
  ), owners as materialized (
    select owner from (select distinct terrane.state_owner(store) as owner from expired) as o
    where owner = own or pg_try_advisory_xact_lock(hashtextextended('terrane.state ' || owner, 0))
  ), gone as (
    delete from terrane.state s using expired e, owners o
    where s.store = e.store and s.key = e.key and s.expires_at <= clock_timestamp() and o.owner = terrane.state_owner(s.store)
    returning o.owner, terrane.state_bytes(s.key, s.value, s.metadata) as bytes
  )
  update terrane.state_sizes z set bytes = z.bytes - g.bytes
  from (select owner, sum(bytes) as bytes from gone group by owner) as g where z.owner = g.owner
$$;

-- Writes in one transaction what a store is asked for. Returns the versionstamp, or null where a check failed.
create function terrane.state_write(wanted_store text, request jsonb) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  most_key constant integer := 2048;
  most_value constant integer := 1048576;
  owner constant text := terrane.state_owner(wanted_store);
  item jsonb;
  wanted_key bytea;
  found terrane.state;
  next terrane.state;
  growth bigint := 0;
begin
  if jsonb_array_length(request->'checks') > 100 or jsonb_array_length(request->'writes') > 1000
     or jsonb_array_length(request->'sends') > 1000 then
    raise exception using errcode = '22023', message = 'a commit has at most 100 checks, 1000 mutations and 1000 messages';
  end if;
  -- Commits of one owner come one after the other, so versions rise in the order of commits.
  perform pg_advisory_xact_lock(hashtextextended('terrane.state ' || owner, 0));
  perform terrane.state_sweep(owner);
  for item in select * from jsonb_array_elements(request->'checks') loop
    select * into found from terrane.state s
    where s.store = wanted_store and s.key = decode(item->>'key', 'hex') and (s.expires_at is null or s.expires_at > clock_timestamp());
    if lpad(to_hex(found.version), 20, '0') is distinct from item->>'versionstamp' then
      return null;
    end if;
  end loop;
  next.store := wanted_store;
  next.version := nextval('terrane.state_versions');
  for item in select * from jsonb_array_elements(request->'writes') loop
    wanted_key := decode(item->>'key', 'hex');
    if wanted_key is null or octet_length(wanted_key) = 0 or octet_length(wanted_key) > most_key then
      raise exception using errcode = '22023', message = format('a key has 1 to %s bytes', most_key);
    end if;
    delete from terrane.state s where s.store = wanted_store and s.key = wanted_key returning * into found;
    growth := growth - coalesce(terrane.state_bytes(found.key, found.value, found.metadata), 0);
    if item->>'operation' = 'delete' then
      continue;
    end if;
    next.key := wanted_key;
    next.kind := item->>'kind';
    next.metadata := (item->'metadata')::json;
    -- Numbers that are reckoned with do not expire from then on, as in Deno.
    next.expires_at := clock_timestamp() + make_interval(secs => (item->>'expires_in')::double precision);
    if item->>'operation' = 'set' then
      next.value := decode(item->>'value', 'base64');
    else
      if found.expires_at <= clock_timestamp() then
        found := null;
      end if;
      next.kind := 'u64';
      next.value := convert_to(
        terrane.state_reckon(item->>'operation', found.kind, found.value, (item->>'operand')::numeric)::text, 'UTF8');
    end if;
    if next.value is null or octet_length(next.value) > most_value or octet_length(item->>'metadata') > 4096 then
      raise exception using errcode = '22023', message = format('a value has at most %s bytes, and its metadata 4096', most_value);
    end if;
    insert into terrane.state select (next).*;
    growth := growth + terrane.state_bytes(next.key, next.value, next.metadata);
  end loop;
  perform terrane.state_grow(owner, growth);
  for item in select * from jsonb_array_elements(request->'sends') loop
    perform terrane.send(item->>'queue', item->'body', make_interval(secs => (item->>'delay_seconds')::double precision));
  end loop;
  return lpad(to_hex(next.version), 20, '0');
end
$$;

-- Removes the stores of a function, or a namespace.
create function terrane.state_remove(wanted_owner text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('terrane.state ' || wanted_owner, 0));
  -- A semicolon comes after the colon.
  delete from terrane.state where store = wanted_owner or (store >= wanted_owner || ':' and store < wanted_owner || ';');
  delete from terrane.state_sizes where owner = wanted_owner;
end
$$;

-- What the host of functions asks of a store, over /rest/v1/rpc/state: `get` keys, `list` a range, `write`, or `remove` all stores of its owner.
create function geoembeddings.state(store text, request jsonb) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  operation text := request->>'operation';
begin
  if store is null or store !~ '^(fn:[^:]+:|kv:[^:]+$)' or octet_length(store) > 1000 then
    raise exception using errcode = '22023', message = 'store is `fn:`, a function, `:` and a name; or `kv:` and a namespace';
  end if;
  case operation
    when 'get' then
      return terrane.state_get(store, request->'keys');
    when 'list' then
      return terrane.state_list(store, request);
    when 'write' then
      return to_json(terrane.state_write(store, request));
    when 'remove' then
      perform terrane.state_remove(terrane.state_owner(store));
      return 'true';
    else
      raise exception using errcode = '22023', message = 'operation is get, list, write or remove';
  end case;
end
$$;
revoke all on function terrane.state_owner(text), terrane.state_bytes(bytea, bytea, json),
  terrane.state_entry(bytea, text, bytea, json, bigint, timestamptz),
  terrane.state_get(text, jsonb), terrane.state_list(text, jsonb), terrane.state_reckon(text, text, bytea, numeric),
  terrane.state_grow(text, bigint), terrane.state_sweep(text), terrane.state_write(text, jsonb), terrane.state_remove(text),
  geoembeddings.state(text, jsonb) from public, anon, authenticated;
grant execute on function geoembeddings.state(text, jsonb) to service_role;
