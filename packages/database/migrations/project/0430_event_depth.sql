-- The depth of the chain of functions in which a row was changed or a message sent, as the functions host signed it; null outside of one.
-- The origin and the sessions of functions set it. Resent dead letters begin anew.

alter table terrane.events
  add column depth text default left(nullif(pg_catalog.current_setting('terrane.depth', true), ''), 80);
