-- Under row-level security a condition may use an index only if its operator is known to tell nothing of rows that it is
-- refused. `&&` of two geometries compares two boxes and raises no error; PostGIS does not say so, and each tile of a
-- table with a policy read the whole table. Decision 0920.
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
