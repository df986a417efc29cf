-- Queries that members keep: a function of public with the query's parameters, for /rest/v1/rpc, and a view of the same name with the rows
-- for the values that the parameters had, for maps, tiles and /rest/v1. Both are for the service role until others are granted them.
-- The function is `security definer` for service_role and runs the statement in terrane.query_rows (0280), so the statement has no other
-- rights and leaves no setting behind, whoever calls it.

-- The kept queries: their parameters, such as `most bigint DEFAULT 4`, their function, and their view unless it is gone. keep_query marks both.
create function terrane.kept_queries() returns table (name text, parameters text, called regprocedure, shown regclass)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p.proname, pg_get_function_arguments(p.oid), p.oid, c.oid
  from pg_proc p left join pg_class c on c.relnamespace = p.pronamespace and c.relname = p.proname and c.relkind = 'v'
    and obj_description(c.oid, 'pg_class') = 'Rows of a kept query.'
  where p.pronamespace = 'public'::regnamespace and obj_description(p.oid, 'pg_proc') = 'Rows of a kept query.'
  order by p.proname
$$;

-- Removes a kept query with its view. False where there is none of this name.
create function terrane.remove_query(p_name text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  kept record;
begin
  select * into kept from terrane.kept_queries() q where q.name = p_name;
  if kept.called is null then
    return false;
  end if;
  if kept.shown is not null then
    execute format('drop view %s', kept.shown);
  end if;
  execute format('drop function %s', kept.called);
  return true;
end
$$;

-- p_sql takes its parameters from $1, a JSON object. p_parameters is [{name, oid, value}], p_columns [{name, oid, typmod}]: types by number,
-- so that nothing of a caller is taken for SQL. A call that finds more than p_rows rows is an error. An earlier kept query of this name is replaced.
create function terrane.keep_query(p_sql text, p_parameters jsonb, p_columns jsonb, p_name text, p_rows bigint, p_bytes bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  mark constant text := 'Rows of a kept query.';
  twice text := (select p ->> 'name' from jsonb_array_elements(p_parameters) p, jsonb_array_elements(p_columns) c where c ->> 'name' = p ->> 'name' limit 1);
  types text;
  signature text;
  arguments text;
  definitions text;
  exact text;
  held bigint;
  lends boolean;
begin
  perform terrane.remove_query(p_name);
  if exists (select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname = p_name)
      or exists (select from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname = p_name) then
    raise exception using errcode = 'PT409', message = format('there is a table, view or function public.%s already', p_name), hint = 'Choose another name, or drop that one first.';
  end if;
  if twice is not null then
    raise exception using errcode = '22023', message = format('a parameter and a column are both named %s', twice), hint = 'Name the parameter otherwise: programs would take its value for a filter of the column.';
  end if;
  select string_agg(format('%I %s', c ->> 'name', format_type(t.oid, -1)), ', ' order by i),
      string_agg(format('%I::%s', c ->> 'name', format_type(t.oid, (c ->> 'typmod')::integer)), ', ' order by i), count(*)
    into definitions, exact, held
    from jsonb_array_elements(p_columns) with ordinality as e(c, i) join pg_type t on t.oid = (c ->> 'oid')::oid and t.typtype <> 'p';
  if held = 0 or held <> jsonb_array_length(p_columns) then
    raise exception using errcode = '22023', message = 'a column of the query has no type that a view can have', hint = 'Cast it, to text for one.';
  end if;
  select coalesce(string_agg(format_type((p ->> 'oid')::oid, null), ', ' order by i), ''),
      coalesce(string_agg(format('%I %s default %L', p ->> 'name', format_type((p ->> 'oid')::oid, null), p ->> 'value'), ', ' order by i), ''),
      coalesce(string_agg(format('%L, ($%s)::text', p ->> 'name', i), ', ' order by i), '')
    into types, signature, arguments
    from jsonb_array_elements(p_parameters) with ordinality as e(p, i);
  execute format('create function public.%I(%s) returns table (%s) language plpgsql stable security definer set search_path = pg_catalog, pg_temp as %L',
    p_name, signature, definitions, format($body$
declare
  n bigint;
begin
  return query select * from terrane.query_rows(%L, jsonb_build_object(%s), %s, %s) as q(%s);
  get diagnostics n = row_count;
  if n > %s then
    raise exception using errcode = '54000', message = 'the kept query gives more than %s rows', hint = 'Narrow it with a condition, or keep a table.';
  end if;
end
$body$, p_sql, arguments, p_rows + 1, p_bytes, definitions, p_rows, p_rows));
  execute format('create view public.%I with (security_invoker = true) as select %s from public.%I()', p_name, exact, p_name);
  execute format('revoke all on function public.%I(%s) from public, anon, authenticated', p_name, types);
  execute format('revoke all on public.%I from public, anon, authenticated', p_name);
  execute format('comment on function public.%I(%s) is %L', p_name, types, mark);
  execute format('comment on view public.%I is %L', p_name, mark);
  execute format('grant select on public.%I to service_role', p_name);
  -- Also with a login that is no superuser: an owner needs `create` on the schema for this moment.
  lends := not has_schema_privilege('service_role', 'public', 'create');
  if lends then
    grant create on schema public to service_role;
  end if;
  execute format('alter function public.%I(%s) owner to service_role', p_name, types);
  if lends then
    revoke create on schema public from service_role;
  end if;
end
$$;

revoke all on function terrane.keep_query(text, jsonb, jsonb, text, bigint, bigint), terrane.kept_queries(), terrane.remove_query(text)
  from public, anon, authenticated;
grant execute on function terrane.keep_query(text, jsonb, jsonb, text, bigint, bigint), terrane.kept_queries(), terrane.remove_query(text)
  to service_role;
