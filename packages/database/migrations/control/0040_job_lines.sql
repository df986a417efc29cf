-- What happened to each job, line by line, for its owner. Lines go with the record.
create table terrane.job_lines (
  job_id uuid not null references terrane.jobs (id) on delete cascade,
  number integer not null,
  at timestamptz not null,
  level text not null check (level in ('info', 'warning', 'error')),
  event text not null,
  attempt integer not null,
  phase text,
  message text not null,
  code text,
  request_id text,
  primary key (job_id, number)
);
-- Lines that were written or left out for want of room: the number of the last one.
alter table terrane.jobs add column log_lines integer not null default 0;
