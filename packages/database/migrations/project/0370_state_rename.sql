-- The state of a function goes with it when it gets another name.

-- Gives the stores of an owner to another one. Where that one has a key already, as after a rename that ended half way, the
-- entry of the former owner, which is newer, stays.
create function terrane.state_rename(wanted_owner text, next_owner text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  replaced bigint;
begin
  -- In one order, so that two renames wait for each other.
  perform pg_advisory_xact_lock(hashtextextended('terrane.state ' || owner, 0))
  from (select unnest(array[wanted_owner, next_owner]) as owner order by 1) o;
  -- A semicolon comes after the colon.
  with gone as (
    delete from terrane.state n using terrane.state s
    where s.store >= wanted_owner || ':' and s.store < wanted_owner || ';'
      and n.store = next_owner || substr(s.store, length(wanted_owner) + 1) and n.key = s.key
    returning terrane.state_bytes(n.key, n.value, n.metadata) as bytes
  )
  select coalesce(sum(bytes), 0) into replaced from gone;
  update terrane.state set store = next_owner || substr(store, length(wanted_owner) + 1)
  where store >= wanted_owner || ':' and store < wanted_owner || ';';
  insert into terrane.state_sizes as z (owner, bytes) select next_owner, s.bytes from terrane.state_sizes s where s.owner = wanted_owner
  on conflict (owner) do update set bytes = z.bytes + excluded.bytes - replaced;
  delete from terrane.state_sizes where owner = wanted_owner;
end
$$;

-- What the host of functions asks of a store, over /rest/v1/rpc/state: `get` keys, `list` a range, `write`, `remove` all
-- stores of its owner, or `rename` a function `to` another name; with the stores of a function its caches are removed.
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
    when 'rename' then
      if not starts_with(owner, 'fn:') or coalesce(request->>'to', '') !~ '^[^:]{1,200}$' then
        raise exception using errcode = '22023', message = 'rename is of a function, `to` another name';
      end if;
      perform terrane.state_rename(owner, 'fn:' || (request->>'to'));
      perform terrane.state_remove('cache:' || split_part(owner, ':', 2));
      return 'true';
    else
      raise exception using errcode = '22023', message = 'operation is get, list, write, remove or rename';
  end case;
end
$$;
revoke all on function terrane.state_rename(text, text) from public, anon, authenticated;
