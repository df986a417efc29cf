-- Who may read and write is said of known roles only: a role that nobody has thought of may nothing but what is public.
-- The service role may all; so may a direct connection, which takes no role.
create or replace function geoembeddings.is_trusted() returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select current_setting('role', true) = 'service_role'
    or coalesce(nullif(current_setting('role', true), 'none'), session_user) = session_user
      and session_user not in ('anon', 'authenticated', 'authenticator')
$$;

create or replace function geoembeddings.can_read(owner uuid, is_public boolean) returns boolean
language sql stable
as $$
  select is_public or owner is null or coalesce(owner = geoembeddings.caller_id(), false) or geoembeddings.is_trusted()
$$;

create or replace function geoembeddings.can_write(owner uuid) returns boolean
language sql stable
as $$
  select coalesce(owner = geoembeddings.caller_id(), false) or geoembeddings.is_trusted()
$$;

revoke all on function geoembeddings.is_trusted() from public;
grant execute on function geoembeddings.is_trusted() to anon, authenticated, service_role;

-- What every database has comes first: a function of the same name in a schema that others may write to is never meant.
do $$
declare
  f record;
begin
  for f in
    select p.oid::regprocedure as signature, setting
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace, unnest(p.proconfig) setting
    where n.nspname = 'geoembeddings' and setting like 'search_path=%' and setting not like 'search_path=pg_catalog%'
  loop
    execute format('alter function %s set search_path = pg_catalog, %s', f.signature,
      regexp_replace(regexp_replace(f.setting, '^search_path=', ''), ',\s*"?pg_catalog"?', ''));
  end loop;
end
$$;
