-- Rows without a time of their own are counted by the statistics of the planner: the warning says that their number is an estimate.
do $$
declare
  body text := (select pg_get_functiondef(p.oid) from pg_proc p
    where p.pronamespace = 'geoembeddings'::regnamespace and p.proname = 'check_time');
begin
  if strpos(body, 'format(''%s rows of embedding table') = 0 or strpos(body, 'leave them out'',') = 0 then
    raise exception 'geoembeddings.check_time has another warning';
  end if;
  execute replace(replace(body,
    'format(''%s rows of embedding table', 'format(''%s%s rows of embedding table'),
    'leave them out'',', 'leave them out'', case when by_row then ''about '' else '''' end,');
end
$$;
