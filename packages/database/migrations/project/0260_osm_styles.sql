-- Style of an import, as it was written: the hash of the rules depends on the order of its members. Null where topics are named.
alter table terrane.osm_imports add column style json;
