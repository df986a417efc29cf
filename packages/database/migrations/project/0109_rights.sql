-- Functions are for the functions that call them, and clients call these.
revoke all on all functions in schema geoembeddings from public, anon, authenticated;
grant execute on function
  geoembeddings.caller_role(), geoembeddings.caller_id(), geoembeddings.is_trusted(),
  geoembeddings.can_read(uuid, boolean), geoembeddings.can_write(uuid),
  geoembeddings.list_sources(text), geoembeddings.delete_embedding_table(text)
to anon, authenticated, service_role;
grant execute on function geoembeddings.remove_source(text, integer) to authenticated, service_role;
grant execute on function
  geoembeddings.list_tables(), geoembeddings.own_table(text, text), geoembeddings.share_table(text, text, text),
  geoembeddings.unshare_table(text, text, text), geoembeddings.drop_table(text, text)
to service_role;
do $$
declare
  search regprocedure;
begin
  for search in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'geoembeddings' and p.proname in ('similarity_search', 'similarity_summary', 'change_detection')
  loop
    execute format('grant execute on function %s to anon, authenticated, service_role', search);
  end loop;
end
$$;
