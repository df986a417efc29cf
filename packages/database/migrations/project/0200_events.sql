-- Events: what a platform has to tell functions and addresses of, written by the transaction that it tells of.

create table terrane.events (
  -- The order of the events of a key. A row's changes wait for each other by its lock, so their ids rise as they commit.
  id bigint generated always as identity primary key,
  -- Who is told: `hook:` and the id of a table hook.
  lane text not null,
  -- Events of one lane and key are delivered one after the other; null: in any order.
  key text,
  -- json keeps the text: a signature is of bytes.
  body json not null,
  created_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  -- The worker that delivers it, and until when no other does.
  leased_by text,
  leased_until timestamptz,
  -- Last failure. A dead letter is kept for a month at most, and holds up no other event.
  status_code integer,
  error text,
  dead_at timestamptz
);
create index events_waiting on terrane.events (lane, id) where dead_at is null;
create index events_keys on terrane.events (lane, key, id) where dead_at is null;
-- Keys whose next event may have to wait.
create index events_held on terrane.events (lane, key) where dead_at is null and (attempts > 0 or due_at > created_at);
create index events_dead on terrane.events (lane, id) where dead_at is not null;
revoke all on terrane.events from public;

-- Writes the change of a row as an event, in the transaction of the writer and nowhere else. It runs with the rights of its owner, so that
-- any role that may write the row causes the event and none reads or writes events.
-- Arguments: lane, columns of the primary key, columns of which one must have changed, values that the row must have.
create function terrane.record_change() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  keys text[] := tg_argv[1];
  watched text[] := tg_argv[2];
  wanted jsonb := tg_argv[3];
  -- Bytes of a row as stored that are looked at, and of a body with both rows.
  most_stored constant integer := 1048576;
  most_body constant integer := 262144;
  is_whole boolean := coalesce(pg_column_size(new), 0) + coalesce(pg_column_size(old), 0) <= most_stored;
  new_row jsonb;
  old_row jsonb;
  name text;
  value jsonb;
  key text;
  moment timestamptz := clock_timestamp();
  -- Of a partitioned table the one that has the hook, not the partition.
  relation oid := coalesce((
    select t.tgrelid from pg_partition_ancestors(tg_relid) a join pg_trigger t on t.tgrelid = a.relid
    where t.tgname = tg_name and t.tgparentid = 0), tg_relid);
begin
  if is_whole then begin
    new_row := to_jsonb(new);
    old_row := to_jsonb(old);
    if tg_op = 'UPDATE' and watched <> '{}'
       and not exists (select from unnest(watched) w where new_row -> w is distinct from old_row -> w) then
      return null;
    end if;
    if not coalesce(new_row, old_row) @> wanted then
      return null;
    end if;
    is_whole := octet_length(concat(new_row::text, old_row::text)) <= most_body;
  exception when others then
    -- A row that is no JSON, such as one with a curve, is written all the same. The filters see as little of it as of one that is too large.
    is_whole := false;
  end; end if;
  if not is_whole then
    -- Only the key: the receiver reads the rest. Rows that are too large to be looked at pass the filters.
    new_row := case when tg_op <> 'DELETE' then '{}'::jsonb end;
    old_row := case when tg_op <> 'INSERT' then '{}'::jsonb end;
    foreach name in array keys loop
      -- A column that was renamed is left out.
      begin
        if new_row is not null then
          execute format('select coalesce(to_jsonb(($1).%I), ''null'')', name) into value using new;
          new_row := new_row || jsonb_build_object(name, value);
        end if;
        if old_row is not null then
          execute format('select coalesce(to_jsonb(($1).%I), ''null'')', name) into value using old;
          old_row := old_row || jsonb_build_object(name, value);
        end if;
      exception when others then
        null;
      end;
    end loop;
  end if;
  key := (select jsonb_agg(coalesce(old_row, new_row) -> k) from unnest(keys) k);
  insert into terrane.events (lane, key, created_at, due_at, body)
  select tg_argv[0], case when octet_length(key) > 200 then md5(key) else key end, moment, moment, jsonb_build_object(
    'type', tg_op, 'table', c.relname, 'schema', n.nspname, 'record', new_row, 'old_record', old_row)
    || case when is_whole then '{}'::jsonb else '{"truncated": true}'::jsonb end
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation;
  return null;
end
$$;
revoke all on function terrane.record_change() from public;
