/** Rights of an object, sorted; `grantor` is left out, and the owner has the name `owner`. */
const rights = (acl: string, kind: string, owner: string) => `(
  select coalesce(string_agg(grantee || ':' || privileges, ' ' order by grantee collate "C"), 'none') from (
    select case when a.grantee = 0 then 'public' when a.grantee = ${owner} then 'owner' else a.grantee::regrole::text end as grantee,
      string_agg(a.privilege_type || case when a.is_grantable then '*' else '' end, ',' order by a.privilege_type) as privileges
    from aclexplode(coalesce(${acl}, acldefault('${kind}', ${owner}))) a group by 1) g)`

/** Comment of an object or a column; empty without one. */
const comment = (catalog: string, oid: string, column = '0') =>
  `coalesce((select ' -- ' || d.description from pg_description d where d.classoid = '${catalog}'::regclass and d.objoid = ${oid} and d.objsubid = ${column}), '')`

const OWN = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`
const notOfExtension = (catalog: string, oid: string) =>
  `not exists (select from pg_depend x where x.classid = '${catalog}'::regclass and x.objid = ${oid} and x.deptype = 'e')`

/**
 * A schema with one object per line: everything that the migrations create, independent of the server's version.
 * Functions have the MD5 of their definition, and tables with rows, other than `terrane.migrations`, their number and
 * MD5.
 */
export const SCHEMA_LISTING = `
  select line from (
    select 'extension ' || extname as line from pg_extension
    union all
    select format('role %s%s%s%s', rolname, case when rolcanlogin then ' login' else '' end,
      case when rolinherit then ' inherit' else '' end, case when rolbypassrls then ' bypassrls' else '' end)
    from pg_roles where rolname in ('anon', 'authenticated', 'service_role')
    union all
    select format('schema %I, rights %s%s', n.nspname, ${rights('n.nspacl', 'n', 'n.nspowner')}, ${comment('pg_namespace', 'n.oid')})
    from pg_namespace n where ${OWN}
    union all
    select format('default rights in %s of %s: %s', d.defaclnamespace::regnamespace, d.defaclobjtype,
      ${rights('d.defaclacl', 'r', 'd.defaclrole')}) from pg_default_acl d
    union all
    select format('relation %s %s%s%s, rights %s%s', c.oid::regclass, c.relkind,
      case when c.relrowsecurity then ' row-security' else '' end, coalesce(' ' || c.reloptions::text, ''),
      ${rights('c.relacl', 'r', 'c.relowner')}, ${comment('pg_class', 'c.oid')})
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${OWN} and c.relkind in ('r', 'p', 'v', 'm', 'f') and ${notOfExtension('pg_class', 'c.oid')}
    union all
    select format('column %s %s %I %s %s%s%s%s', c.oid::regclass,
      to_char(row_number() over (partition by c.oid order by a.attnum), 'FM00'), a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then 'not null' else 'null' end, concat(a.attidentity, a.attgenerated, ' ', a.attstorage, a.attcompression),
      coalesce(' = ' || pg_get_expr(d.adbin, d.adrelid), ''), case when a.attacl is not null then ', rights ' || ${rights('a.attacl', 'c', 'c.relowner')} else '' end || ${comment('pg_class', 'c.oid', 'a.attnum')})
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where ${OWN} and c.relkind in ('r', 'p', 'v', 'm', 'f') and ${notOfExtension('pg_class', 'c.oid')}
    union all
    select format('sequence %s %s %s to %s by %s, rights %s, of %s', c.oid::regclass, format_type(s.seqtypid, null), s.seqstart, s.seqmax, s.seqincrement,
      ${rights('c.relacl', 's', 'c.relowner')}, (select x.refobjid::regclass::text from pg_depend x
        where x.classid = 'pg_class'::regclass and x.objid = c.oid and x.deptype in ('a', 'i')))
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_sequence s on s.seqrelid = c.oid
    where ${OWN} and ${notOfExtension('pg_class', 'c.oid')}
    union all
    select pg_get_indexdef(i.indexrelid) || ${comment('pg_class', 'i.indexrelid')} from pg_index i join pg_class c on c.oid = i.indrelid
    join pg_namespace n on n.oid = c.relnamespace where ${OWN} and ${notOfExtension('pg_class', 'c.oid')}
    union all
    select format('constraint %s %I %s%s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid), ${comment('pg_constraint', 'c.oid')})
    from pg_constraint c join pg_class r on r.oid = c.conrelid join pg_namespace n on n.oid = r.relnamespace
    where ${OWN} and c.contype <> 'n' and ${notOfExtension('pg_class', 'r.oid')}
    union all
    select format('function %s %s, rights %s%s', p.oid::regprocedure, md5(pg_get_functiondef(p.oid)),
      ${rights('p.proacl', 'f', 'p.proowner')}, ${comment('pg_proc', 'p.oid')})
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${OWN} and ${notOfExtension('pg_proc', 'p.oid')}
    union all
    select 'leakproof ' || p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${OWN} and p.proleakproof
    union all
    select pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text || ${comment('pg_trigger', 't.oid')} from pg_trigger t where not t.tgisinternal
    union all
    select format('policy %I of %s %s %s to %s using %s check %s%s', p.polname, p.polrelid::regclass, p.polcmd, p.polpermissive, p.polroles::regrole[],
      pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid), ${comment('pg_policy', 'p.oid')}) from pg_policy p
    union all
    select format('type %s %s', t.oid::regtype, t.typtype) from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where ${OWN} and t.typtype in ('d', 'e', 'r') and ${notOfExtension('pg_type', 't.oid')}
    union all
    select format('rows of %s: %s', c.oid::regclass, found) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    cross join lateral unnest(xpath('/row/n/text()', query_to_xml(format(
      'select count(*) || '' '' || md5(string_agg(t::text, chr(10) order by t::text)) as n from %s t', c.oid::regclass), false, true, ''))) rows(found)
    where ${OWN} and c.relkind = 'r' and ${notOfExtension('pg_class', 'c.oid')} and c.oid <> 'terrane.migrations'::regclass
  ) lines order by line collate "C"`
