-- Files that maps are drawn with: MapLibre styles, icons of sprites, fonts. The service role writes them; a public one is read
-- by every caller, another by the service role, unless a policy of the project lets others read it.

create table geoembeddings.map_files (
  kind text not null check (kind in ('style', 'icon', 'font')),
  -- Of an icon its sprite, else empty.
  folder text not null default '' check (length(folder) <= 100 and (folder = '') = (kind <> 'icon')),
  name text not null check (length(name) between 1 and 100),
  content bytea not null check (octet_length(content) between 1 and 6291456),
  media_type text not null,
  -- Pixels of a picture for each pixel of the map.
  pixel_ratio smallint not null default 1 check (pixel_ratio between 1 and 4),
  is_public boolean not null default false,
  sha256 text not null generated always as (encode(sha256(content), 'hex')) stored,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (kind, folder, name)
);

alter table geoembeddings.map_files enable row level security;
create policy shown on geoembeddings.map_files for select using (geoembeddings.can_read(null, is_public));
create policy own on geoembeddings.map_files to service_role using (true) with check (true);
grant select on geoembeddings.map_files to anon, authenticated, service_role;
grant insert (kind, folder, name, content, media_type, pixel_ratio, is_public),
  update (content, media_type, pixel_ratio, is_public, updated_at), delete on geoembeddings.map_files to service_role;
