-- Messages of queues: events that the project sends itself, delivered to the function that consumes the queue.

-- Sends a message, in the transaction of the sender. Returns its id.
create function terrane.send(queue text, body jsonb, delay interval default '0', key text default null) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  most_body constant integer := 262144;
  made bigint;
  moment timestamptz := clock_timestamp();
begin
  if queue is null or queue !~ '^[a-z][a-z0-9_-]{0,62}$' then
    raise exception using errcode = '22023', message = 'queue is a name of a-z, 0-9, _ and -, which begins with a letter';
  end if;
  if body is null or octet_length(body::text) > most_body then
    raise exception using errcode = '22023', message = format('body is JSON of at most %s bytes', most_body),
      hint = 'Put what is larger into a table or into the storage, and send where it lies.';
  end if;
  if delay is null or delay < '0' or delay > '30 days' then
    raise exception using errcode = '22023', message = 'delay is between 0 and 30 days';
  end if;
  if octet_length(key) > 200 then
    raise exception using errcode = '22023', message = 'key has at most 200 bytes';
  end if;
  insert into terrane.events (lane, key, body, created_at, due_at) values ('queue:' || queue, key, body, moment, moment + delay)
  returning id into made;
  return made;
end
$$;

-- The same over /rest/v1/rpc/send_message, for the service role.
create function geoembeddings.send_message(queue text, body jsonb, delay_seconds double precision default 0, key text default null)
returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$ select terrane.send(queue, body, make_interval(secs => delay_seconds), key) $$;

revoke all on function terrane.send(text, jsonb, interval, text), geoembeddings.send_message(text, jsonb, double precision, text)
  from public, anon, authenticated;
grant usage on schema terrane to service_role;
grant execute on function terrane.send(text, jsonb, interval, text), geoembeddings.send_message(text, jsonb, double precision, text)
  to service_role;
