-- The trace (W3C traceparent) of the request that asked for a job: its runs are part of it.
alter table terrane.jobs add column traceparent text;
