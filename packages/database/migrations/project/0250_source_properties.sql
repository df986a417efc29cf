-- What is known of a source beside its time: fields of its STAC item (id, collection, platform, cloud cover and the like), its files
-- and how they came to one grid. Null where nothing is.
alter table geoembeddings.embedding_sources add column properties jsonb;
