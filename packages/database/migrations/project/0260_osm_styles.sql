-- Tables of an import that has a style in place of topics; null where topics are named.
alter table terrane.osm_imports add column style jsonb;
