-- Functions that a host serves from a folder, with what their policies have the platform do; deployed ones have it in their versions.
create table terrane.served_functions (
  project_id uuid not null references terrane.projects (id) on delete cascade,
  name text not null,
  policy jsonb not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_id, name)
);

-- The next time of each cron expression of a function. The worker that moves a time on calls the function.
create table terrane.function_crons (
  project_id uuid not null references terrane.projects (id) on delete cascade,
  function_name text not null,
  -- The expression, with the name before it where it has one, as the policy has it.
  entry text not null,
  time_zone text not null,
  -- Null: the expression has no time.
  next_at timestamptz,
  last_at timestamptz,
  primary key (project_id, function_name, entry, time_zone)
);
create index function_crons_due on terrane.function_crons (next_at) where next_at is not null;
