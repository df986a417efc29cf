-- Ends of `terrane backup`, for monitoring.
create table terrane.backups (
  id bigint primary key generated always as identity,
  -- Kind of the place: file or s3.
  place text not null,
  bytes bigint not null,
  ended_at timestamptz not null default clock_timestamp()
);
