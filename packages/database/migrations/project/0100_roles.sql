-- Roles, extensions and rights that everything else needs.
do $$
declare
  r text;
begin
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if not exists (select 1 from pg_roles where rolname = r) then
      execute format('create role %I nologin noinherit', r);
    end if;
  end loop;
exception when duplicate_object or unique_violation then
  null; -- Another database of this server made them at the same moment.
end
$$;
do $$
begin
  if not (select rolbypassrls from pg_roles where rolname = 'service_role') then
    alter role service_role bypassrls;
  end if;
exception when insufficient_privilege then
  null; -- A managed server grants this itself.
end
$$;

create extension if not exists postgis;
create extension if not exists vector;

grant usage on schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to service_role;
alter default privileges in schema public grant usage, select on sequences to service_role;

-- Under row-level security a condition may use an index only if its operator is leakproof. `&&` of two geometries compares two boxes
-- and raises no error, but PostGIS does not declare it so: each tile of a table with a policy would read the whole table.
-- docs/decisions/raster-tiles.md#spatial-indexes-under-row-level-security
do $$
declare
  compare_boxes regprocedure := (
    select o.oprcode from pg_operator o
    join pg_type t on t.oid = o.oprleft and t.oid = o.oprright and t.typname = 'geometry'
    join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = o.oprcode and d.deptype = 'e'
    join pg_extension e on e.oid = d.refobjid and e.extname = 'postgis'
    where o.oprname = '&&');
begin
  execute format('alter function %s leakproof', compare_boxes);
exception when insufficient_privilege then
  raise notice 'only a superuser may let row-level security use spatial indexes: alter function % leakproof', compare_boxes;
end
$$;
