-- People of the console, the organizations they belong to, and their sessions.
create table terrane.users (
  id uuid primary key,
  -- Lower case.
  email text not null unique check (email = lower(email)),
  name text not null default '',
  -- $scrypt$ln=…,r=…,p=…${salt}${hash}
  password_hash text not null,
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);

-- A member sees the projects of the organization and nothing else.
create table terrane.memberships (
  organization_id uuid not null references terrane.organizations (id) on delete cascade,
  user_id uuid not null references terrane.users (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (user_id, organization_id)
);

create table terrane.console_sessions (
  token_sha256 text primary key check (token_sha256 ~ '^[0-9a-f]{64}$'),
  user_id uuid not null references terrane.users (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index console_sessions_user on terrane.console_sessions (user_id);
create index console_sessions_expiry on terrane.console_sessions (expires_at);

-- Failed sign-ins by account and by address, which all processes of the console count together.
create table terrane.sign_in_limits (
  -- SHA-256 of the account's e-mail or of the address.
  subject text primary key check (subject ~ '^[0-9a-f]{64}$'),
  failures integer not null,
  blocked_until timestamptz not null,
  updated_at timestamptz not null default clock_timestamp()
);
create index sign_in_limits_age on terrane.sign_in_limits (updated_at);
