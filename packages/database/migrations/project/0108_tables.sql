-- What a console shows of a project's tables and does to them; for the service role alone.

-- Tables and views of a project, without those of extensions and of the platform.
create function geoembeddings.list_tables() returns table (
  table_schema text, table_name text, kind text, geometry_type text, rows bigint, bytes bigint,
  job_id uuid, task text, attribution text, licence text, created_at timestamptz, shared_with text[]
)
language sql stable security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
  select n.nspname, c.relname,
    case when e.table_name is not null then 'embeddings' when c.relkind in ('v', 'm') then 'view' else 'table' end,
    (select postgis_typmod_type(a.atttypmod) from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and t.typname in ('geometry', 'geography')
     order by a.attnum limit 1),
    coalesce(e.rows, nullif(greatest(c.reltuples, -1), -1)::bigint, i.rows),
    pg_total_relation_size(c.oid),
    coalesce(e.job_id, i.job_id), coalesce(i.task, case when e.kind = 'srai' then 'createSraiEmbeddings' when e.kind is not null then 'createGeoEmbeddings' end),
    coalesce(i.attribution, e.attribution), i.licence, coalesce(i.created_at, e.created_at),
    array(
      select r.rolname::text from pg_roles r
      where r.rolname in ('anon', 'authenticated') and has_table_privilege(r.oid, c.oid, 'select')
        and coalesce(e.is_public, true)
        and (not c.relrowsecurity or exists (
          select from pg_policy p where p.polrelid = c.oid and p.polcmd in ('r', '*') and (p.polroles = '{0}' or r.oid = any (p.polroles))))
      order by r.rolname)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  left join terrane.imports i on i.table_schema = n.nspname and i.table_name = c.relname
  left join geoembeddings.embeddings_catalogue e on n.nspname = 'geoembeddings' and e.table_name = c.relname
  where n.nspname in ('public', 'geoembeddings') and c.relkind in ('r', 'p', 'v', 'm')
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    and not (n.nspname = 'geoembeddings' and e.table_name is null)
  order by coalesce(i.created_at, e.created_at) desc nulls last, n.nspname, c.relname
$$;

-- The table that a name means: one that list_tables shows, and no view.
create function geoembeddings.own_table(p_schema text, p_table text) returns regclass
language plpgsql stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
begin
  if not exists (select from geoembeddings.list_tables() t
                 where t.table_schema = p_schema and t.table_name = p_table and t.kind = 'table') then
    raise exception using errcode = '42P01', message = format('there is no table %s.%s to be changed', p_schema, p_table);
  end if;
  return format('%I.%I', p_schema, p_table)::regclass;
end
$$;

-- Whether a name means an embedding table, which anon and authenticated read alike or neither. It is so by is_public.
create function geoembeddings.set_public(p_schema text, p_table text, p_role text, shared boolean) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_schema <> 'geoembeddings' or not exists (select from geoembeddings.embeddings_catalogue c where c.table_name = p_table) then
    return false;
  end if;
  if p_role is distinct from 'anon' then
    raise exception using errcode = '22023',
      message = 'p_role of an embedding table is anon: anon and authenticated read it alike, or neither does',
      hint = 'Send p_role anon, or make the table with ownerUuid for one user.';
  end if;
  update geoembeddings.embeddings_catalogue set is_public = shared where table_name = p_table;
  return true;
end
$$;

-- Lets everybody of a role read all rows, by a policy of row-level security: who may write stays as it was. A role
-- that could read before row-level security was on keeps that.
create function geoembeddings.share_table(p_schema text, p_table text, p_role text) returns void
language plpgsql security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  target regclass;
  reader text;
begin
  if geoembeddings.set_public(p_schema, p_table, p_role, true) then
    return;
  end if;
  target := geoembeddings.own_table(p_schema, p_table);
  if p_role not in ('anon', 'authenticated') or p_role is null then
    raise exception using errcode = '22023', message = 'p_role is anon or authenticated';
  end if;
  if not (select relrowsecurity from pg_class where oid = target) then
    for reader in select rolname from pg_roles where rolname in ('anon', 'authenticated') and rolname <> p_role
                    and has_table_privilege(oid, target, 'select') loop
      execute format('create policy %I on %s for select to %I using (true)', 'shared with ' || reader, target, reader);
    end loop;
    execute format('alter table %s enable row level security', target);
  end if;
  execute format('drop policy if exists %I on %s', 'shared with ' || p_role, target);
  execute format('create policy %I on %s for select to %I using (true)', 'shared with ' || p_role, target, p_role);
  execute format('grant select on %s to %I', target, p_role);
end
$$;

-- Takes back what share_table gave.
create function geoembeddings.unshare_table(p_schema text, p_table text, p_role text) returns void
language plpgsql security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  target regclass;
begin
  if geoembeddings.set_public(p_schema, p_table, p_role, false) then
    return;
  end if;
  target := geoembeddings.own_table(p_schema, p_table);
  if p_role not in ('anon', 'authenticated') or p_role is null then
    raise exception using errcode = '22023', message = 'p_role is anon or authenticated';
  end if;
  execute format('drop policy if exists %I on %s', 'shared with ' || p_role, target);
  execute format('revoke select on %s from %I', target, p_role);
end
$$;

-- Drops a table and its record of an import; an embedding table as delete_embedding_table does. One that a view needs is not dropped.
create function geoembeddings.drop_table(p_schema text, p_table text) returns void
language plpgsql security definer
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  target regclass;
begin
  if p_schema = 'geoembeddings' and exists (select from geoembeddings.embeddings_catalogue c where c.table_name = p_table) then
    perform geoembeddings.delete_embedding_table(p_table);
    return;
  end if;
  target := geoembeddings.own_table(p_schema, p_table);
  execute format('drop table %s', target);
  delete from terrane.imports where table_schema = p_schema and table_name = p_table;
end
$$;
