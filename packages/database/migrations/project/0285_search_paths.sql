-- These functions of the login name a schema for all that they call, so they look nowhere where others may create functions.
alter function geoembeddings.own_table(text, text) set search_path = pg_catalog, pg_temp;
alter function geoembeddings.share_table(text, text, text) set search_path = pg_catalog, pg_temp;
alter function geoembeddings.unshare_table(text, text, text) set search_path = pg_catalog, pg_temp;
alter function geoembeddings.drop_table(text, text) set search_path = pg_catalog, pg_temp;
alter function geoembeddings.remove_source(text, integer) set search_path = pg_catalog, pg_temp;
