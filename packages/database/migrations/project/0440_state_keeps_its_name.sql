-- The state of a function that is renamed to its own name stays.

-- Gives the stores of an owner to another one. Where that one has a key already, as after a rename that ended half way, the
-- entry of the former owner, which is newer, stays.
create or replace function terrane.state_rename(wanted_owner text, next_owner text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  replaced bigint;
begin
  -- Otherwise each entry would be deleted as a former one of itself.
  if wanted_owner = next_owner then
    raise exception using errcode = '22023', message = 'rename is of a function, `to` another name';
  end if;
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
