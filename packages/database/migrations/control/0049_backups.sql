-- When `terrane backup` has ended, for whoever watches that it still does.
create table terrane.backups (
  id bigint primary key generated always as identity,
  -- Kind of the place: file or s3.
  place text not null,
  bytes bigint not null,
  ended_at timestamptz not null default clock_timestamp()
);

-- Who may look keys up, such as the role of an origin of a pool, may see which tokens were revoked.
do $$
declare
  reader regrole;
begin
  for reader in
    select distinct a.grantee::regrole from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'terrane.keys'::regclass and a.privilege_type = 'SELECT' and a.grantee <> 0
  loop
    execute format('grant select on terrane.revoked_tokens to %s', reader);
  end loop;
end
$$;
