-- Functions keep the names that they have on other platforms, capital letters among them.
alter table terrane.function_versions
  drop constraint function_versions_name_check,
  add constraint function_versions_name_check check (name ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$');
