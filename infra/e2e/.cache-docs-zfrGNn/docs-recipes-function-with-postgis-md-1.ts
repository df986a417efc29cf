import pg from 'pg'

const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
await client.connect()
await client.query(`
  create or replace function public.sights_near(longitude float8, latitude float8, meters float8)
  returns table (name text, distance float8) language sql stable security definer set search_path = public, extensions as $$
    select name::text, ST_Distance(geom::geography, ST_Point(longitude, latitude, 4326)::geography) as distance
    from public.near_sights
    where ST_DWithin(geom::geography, ST_Point(longitude, latitude, 4326)::geography, meters)
    order by distance
  $$;
  grant execute on function public.sights_near to anon;
`)
await client.end()
