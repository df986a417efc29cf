/** Schemas of users and of the platform, without those of the server and of running jobs. */
const OWN = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'terrane_staging')`
const notOfExtension = (catalog: string, oid: string) =>
  `not exists (select from pg_depend x where x.classid = '${catalog}'::regclass and x.objid = ${oid} and x.deptype = 'e')`

/**
 * The schema of a database, one line per object: relations with their columns, indexes, constraints, functions,
 * triggers, policies, and rights of roles other than the owner's. Two databases with the same lines have the same
 * schema.
 */
export const INVENTORY = `
  select line from (
    select format('relation %I.%I %s %s', n.nspname, c.relname, c.relkind, (
      select string_agg(format('%I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then ' not null' else '' end, coalesce(' = ' || pg_get_expr(d.adbin, d.adrelid), '')), ', ' order by a.attname)
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)) as line
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${OWN} and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and ${notOfExtension('pg_class', 'c.oid')}
    union all
    select 'index ' || pg_get_indexdef(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${OWN} and c.relkind = 'i' and not exists (
      select from pg_index i where i.indexrelid = c.oid and not (${notOfExtension('pg_class', 'i.indrelid')}))
    union all
    select format('constraint %I.%I %I %s', n.nspname, r.relname, c.conname, pg_get_constraintdef(c.oid))
    from pg_constraint c join pg_class r on r.oid = c.conrelid join pg_namespace n on n.oid = r.relnamespace
    where ${OWN} and c.contype <> 'n' and ${notOfExtension('pg_class', 'r.oid')}
    union all
    select format('function %I.%I(%s) %s %s', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid),
      pg_get_function_result(p.oid), md5(coalesce(p.prosrc, '')))
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${OWN} and ${notOfExtension('pg_proc', 'p.oid')}
    union all
    select 'trigger ' || pg_get_triggerdef(t.oid) from pg_trigger t join pg_class r on r.oid = t.tgrelid
    join pg_namespace n on n.oid = r.relnamespace where ${OWN} and not t.tgisinternal
    union all
    select format('policy %I.%I %I %s %s %s', n.nspname, r.relname, p.polname, p.polcmd,
      pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    from pg_policy p join pg_class r on r.oid = p.polrelid join pg_namespace n on n.oid = r.relnamespace where ${OWN}
    union all
    select format('right %I.%I %s %s', n.nspname, c.relname, coalesce(g.rolname, 'public'), a.privilege_type)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    cross join aclexplode(c.relacl) a left join pg_roles g on g.oid = a.grantee
    where ${OWN} and a.grantee <> c.relowner and ${notOfExtension('pg_class', 'c.oid')} and a.privilege_type <> 'MAINTAIN'
  ) lines order by line collate "C"`

/** Tables whose rows are copied, with a condition for tables of an extension. */
export const TABLES = `
  select n.nspname as schema, c.relname as table, coalesce(e.condition, '') as condition,
    array(select a.attname::text from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  left join (select unnest(extconfig) as oid, unnest(extcondition) as condition from pg_extension) e on e.oid = c.oid
  where ${OWN} and c.relkind = 'r' and c.relpersistence <> 't' and (e.oid is not null or ${notOfExtension('pg_class', 'c.oid')})
  order by 1, 2`

/** Statements that set sequences to their current values. */
export const SEQUENCES = `
  select format('select pg_catalog.setval(%L, %s)', format('%I.%I', schemaname, sequencename), last_value) as sql
  from pg_sequences where last_value is not null and schemaname <> 'terrane_staging' order by 1`

/** Statements that fill materialized views, in the order in which they were made. */
export const VIEWS_TO_FILL = `
  select format('refresh materialized view %I.%I', n.nspname, c.relname) as sql
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'm' and c.relispopulated and ${OWN} order by c.oid`

/** Statements that create the missing roles among owners and grantees of this database. */
export const ROLES = `
  with named as (
    select distinct r.* from pg_shdepend d join pg_roles r on r.oid = d.refobjid
    where d.refclassid = 'pg_authid'::regclass and d.dbid = (select oid from pg_database where datname = current_database())
      and r.rolname !~ '^pg_' and not r.rolsuper)
  select format($f$do $do$ begin if to_regrole(%L) is null then create role %I nologin %s; end if; end $do$$f$,
    quote_ident(rolname), rolname, case when rolinherit then 'inherit' else 'noinherit' end) as sql from named
  union all
  select format($f$do $do$ begin if not (select rolbypassrls from pg_roles where rolname = %L) then alter role %I bypassrls; end if;
    exception when insufficient_privilege then null; end $do$$f$, rolname, rolname) from named where rolbypassrls
  union all
  select format('grant %I to %I', r.rolname, m.rolname) from pg_auth_members a
  join named r on r.oid = a.roleid join named m on m.oid = a.member`

/** Objects of a database beyond those of its server and extensions; empty for a database to restore into. */
export const ANYTHING = `
  select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and ${notOfExtension('pg_class', 'c.oid')}
    and not exists (select from pg_index i where i.indexrelid = c.oid)
  union all
  select quote_ident(n.nspname) from pg_namespace n
  where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'public') and ${notOfExtension('pg_namespace', 'n.oid')}
  order by 1 limit 5`
