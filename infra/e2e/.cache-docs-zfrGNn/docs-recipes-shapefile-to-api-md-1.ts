import pg from 'pg'

const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
await client.connect()
await client.query(`
  grant select on public.parcels to anon, authenticated;
  alter table public.parcels enable row level security;
  create policy everybody on public.parcels for select to anon using (is_public);
  create policy members on public.parcels for select to authenticated using (true);
`)
await client.end()
