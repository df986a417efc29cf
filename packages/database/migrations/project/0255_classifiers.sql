-- Classifiers of embeddings: what was learnt of examples, in versions, with what the vectors were that it reads.

create table geoembeddings.classifiers (
  name text not null check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  version integer not null check (version > 0),
  -- The user who owns it; null when it belongs to the service role.
  owner uuid,
  -- Everybody reads it, or its owner and the service role.
  is_public boolean not null,
  head text not null check (head in ('knn', 'logistic', 'linear', 'centroids')),
  classes text[] not null,
  -- The table of its examples, which may be gone, and the members of its catalogue row by which tables are compared.
  table_name text not null,
  identity jsonb not null,
  settings jsonb not null default '{}',
  -- What it said of examples that were held out; null where none could be.
  validation jsonb,
  examples bigint not null,
  attribution text,
  job_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  primary key (name, version)
);

-- Weights, centres or the vectors of the examples: little-endian float32. For the service role, since they may be rows of a table.
create table geoembeddings.classifier_weights (
  name text not null,
  version integer not null,
  weights bytea not null,
  primary key (name, version),
  foreign key (name, version) references geoembeddings.classifiers on delete cascade on update cascade
);

alter table geoembeddings.classifiers enable row level security;
create policy visible on geoembeddings.classifiers for select using (geoembeddings.can_read(owner, is_public));
create policy own_update on geoembeddings.classifiers for update
  using (geoembeddings.can_write(owner)) with check (geoembeddings.can_write(owner));
create policy own_delete on geoembeddings.classifiers for delete using (geoembeddings.can_write(owner));
grant select on geoembeddings.classifiers to anon, authenticated, service_role;
grant update (is_public), delete on geoembeddings.classifiers to authenticated, service_role;

alter table geoembeddings.classifier_weights enable row level security;
create policy service on geoembeddings.classifier_weights for select using (geoembeddings.is_trusted());
grant select on geoembeddings.classifier_weights to service_role;

-- Whether a policy of row-level security shows a role all rows of a table; one that shows rows to their owners does not.
create function geoembeddings.shows_all(p_table oid, p_role name) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_policy p where p.polrelid = p_table and p.polpermissive and p.polcmd in ('r', '*')
      and (p.polroles = '{0}' or p_role::regrole = any (p.polroles)) and pg_get_expr(p.polqual, p.polrelid) = 'true')
$$;
revoke all on function geoembeddings.shows_all(oid, name) from public, anon, authenticated;

create or replace function geoembeddings.list_tables() returns table (
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
        and (not c.relrowsecurity or e.table_name is not null or geoembeddings.shows_all(c.oid, r.rolname))
      order by r.rolname)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  left join terrane.imports i on i.table_schema = n.nspname and i.table_name = c.relname
  left join geoembeddings.embeddings_catalogue e on n.nspname = 'geoembeddings' and e.table_name = c.relname
  where n.nspname in ('public', 'geoembeddings') and c.relkind in ('r', 'p', 'v', 'm')
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    and not (n.nspname = 'geoembeddings' and e.table_name is null)
  order by coalesce(i.created_at, e.created_at) desc nulls last, n.nspname, c.relname
$$;

-- Takes back what share_table gave. A role with a user who owns the table keeps its right: the policy own shows rows to that user alone.
create or replace function geoembeddings.unshare_table(p_schema text, p_table text, p_role text) returns void
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
  if not exists (select from pg_policy p where p.polrelid = target and p.polname = 'own' and p_role::regrole = any (p.polroles)) then
    execute format('revoke select on %s from %I', target, p_role);
  end if;
end
$$;
