-- Tokens that are signed and not registered (of users, of signed URLs) end here before their time: by their text, by their id (jti),
-- or all that one key has signed (kid). Never the token itself: sha256 is of its canonical text, or of project, kind and id.
create table terrane.revoked_tokens (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  kind text not null check (kind in ('token', 'jti', 'kid')),
  project_id uuid references terrane.projects (id) on delete cascade,
  revoked_at timestamptz not null default clock_timestamp(),
  -- The token has ended by itself after this moment; null for ids.
  expires_at timestamptz
);
