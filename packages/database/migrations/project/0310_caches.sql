-- Caches of functions: stores `cache:`, a function and `:`. They are no part of the state that the function is bounded by,
-- make room for themselves, and go with the function.

-- Deletes what was written longest ago to the caches of an owner whose lock is held, until they have seven eighths of their bound.
create function terrane.cache_trim(wanted_owner text, most_bytes bigint) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  with entries as (
    select s.store, s.key, sum(terrane.state_bytes(s.key, s.value, s.metadata)) over (order by s.version desc, s.key) as held
    from terrane.state s
    where s.store >= wanted_owner || ':' and s.store < wanted_owner || ';'
  ), gone as (
    delete from terrane.state s using entries e
    where s.store = e.store and s.key = e.key and e.held > most_bytes / 8 * 7
    returning terrane.state_bytes(s.key, s.value, s.metadata) as bytes
  )
  update terrane.state_sizes z set bytes = z.bytes - (select coalesce(sum(bytes), 0) from gone) where z.owner = wanted_owner
$$;

-- Changes what an owner holds, up to a bound; caches make room instead. Its lock is held.
create or replace function terrane.state_grow(wanted_owner text, change bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  most_bytes constant bigint := 1073741824;
  most_cached constant bigint := 67108864;
  held bigint;
begin
  if change = 0 then
    return;
  end if;
  insert into terrane.state_sizes as z (owner, bytes) values (wanted_owner, change)
  on conflict (owner) do update set bytes = z.bytes + excluded.bytes returning z.bytes into held;
  if starts_with(wanted_owner, 'cache:') then
    if held > most_cached then
      perform terrane.cache_trim(wanted_owner, most_cached);
    end if;
  elsif change > 0 and held > most_bytes then
    raise exception using errcode = '22023',
      message = format('the state of a function, or of a namespace, has at most %s bytes: delete entries, or let them expire', most_bytes);
  end if;
end
$$;

-- What the host of functions asks of a store, over /rest/v1/rpc/state: `get` keys, `list` a range, `write`, or `remove` all
-- stores of its owner; with those of a function its caches.
create or replace function geoembeddings.state(store text, request jsonb) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  operation text := request->>'operation';
  owner text := terrane.state_owner(store);
begin
  if store is null or store !~ '^(fn:[^:]+:|cache:[^:]+:$|kv:[^:]+$)' or octet_length(store) > 1000 then
    raise exception using errcode = '22023',
      message = 'store is `fn:`, a function, `:` and a name; `cache:`, a function and `:`; or `kv:` and a namespace';
  end if;
  case operation
    when 'get' then
      return terrane.state_get(store, request->'keys');
    when 'list' then
      return terrane.state_list(store, request);
    when 'write' then
      return to_json(terrane.state_write(store, request));
    when 'remove' then
      perform terrane.state_remove(owner);
      if starts_with(owner, 'fn:') then
        perform terrane.state_remove('cache:' || split_part(owner, ':', 2));
      end if;
      return 'true';
    else
      raise exception using errcode = '22023', message = 'operation is get, list, write or remove';
  end case;
end
$$;
revoke all on function terrane.cache_trim(text, bigint) from public, anon, authenticated;
