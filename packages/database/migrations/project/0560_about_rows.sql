-- Rows without a time of their own are counted by the statistics of the planner: the warning says that their number is an estimate.
do $$
declare
  body text := (select pg_get_functiondef(p.oid) from pg_proc p
    where p.pronamespace = 'geoembeddings'::regnamespace and p.proname = 'check_time');
begin
  execute replace(replace(body,
    'format(''%s rows of embedding table', 'format(''%s%s rows of embedding table'),
    'leave them out'',', 'leave them out'', case when by_row then ''about '' else '''' end,');
end
$$;
