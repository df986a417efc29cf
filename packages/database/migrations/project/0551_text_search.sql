-- Documents of full-text filters, by the type of the column: a tsvector is one already, text and JSON become one in the language of the
-- filter, as in PostgREST. A filter is written without knowing types, so the server chooses among these. They are inlined: indexes on
-- the column, and on to_tsvector(language, column), are used.
create schema terrane_text;
grant usage on schema terrane_text to public;

create function terrane_text.to_tsvector(tsvector) returns tsvector language sql immutable as 'select $1';
create function terrane_text.to_tsvector(text) returns tsvector language sql stable as 'select pg_catalog.to_tsvector($1)';
create function terrane_text.to_tsvector(json) returns tsvector language sql stable as 'select pg_catalog.to_tsvector($1)';
create function terrane_text.to_tsvector(jsonb) returns tsvector language sql stable as 'select pg_catalog.to_tsvector($1)';
create function terrane_text.to_tsvector(regconfig, tsvector) returns tsvector language sql immutable as 'select $2';
create function terrane_text.to_tsvector(regconfig, text) returns tsvector language sql immutable as 'select pg_catalog.to_tsvector($1, $2)';
create function terrane_text.to_tsvector(regconfig, json) returns tsvector language sql immutable as 'select pg_catalog.to_tsvector($1, $2)';
create function terrane_text.to_tsvector(regconfig, jsonb) returns tsvector language sql immutable as 'select pg_catalog.to_tsvector($1, $2)';
