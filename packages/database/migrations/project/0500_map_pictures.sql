-- Maps are shown with a small picture in lists.

-- What the editor drew last, for members: public_maps leaves it out, because it may show layers that are not published.
alter table geoembeddings.maps add column picture text
  check (octet_length(picture) <= 65536 and picture ~ '^data:image/(webp|png);base64,[A-Za-z0-9+/]+={0,2}$');
grant update (picture) on geoembeddings.maps to authenticated, service_role;
