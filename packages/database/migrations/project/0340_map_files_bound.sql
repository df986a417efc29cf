-- Bound on the files of maps of a project: 5,000 of 256 MiB together, however they are written.
create function geoembeddings.bound_map_files() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  most_files constant bigint := 5000;
  most_bytes constant bigint := 268435456;
  files bigint;
  bytes bigint;
begin
  -- Writes at the same time count each other's files.
  perform pg_advisory_xact_lock(hashtextextended('geoembeddings.map_files', 0));
  select count(*), sum(octet_length(content)) into files, bytes from geoembeddings.map_files;
  if files > most_files or bytes > most_bytes then
    raise exception using errcode = 'PT413',
      message = format('styles, icons and fonts of a project are at most %s files of %s bytes together', most_files, most_bytes),
      hint = 'Delete files that no map uses: DELETE /maps/v1/styles/{name}, /sprites/{sprite}/{icon} or /fonts/{name}.';
  end if;
  return null;
end
$$;
create trigger bound_files after insert or update of content on geoembeddings.map_files
  for each statement execute function geoembeddings.bound_map_files();
revoke all on function geoembeddings.bound_map_files() from public;
