-- Which request asked for a job, and which failed job it is another try of.
alter table terrane.jobs add column request_id text;
alter table terrane.jobs add column retry_of uuid;
