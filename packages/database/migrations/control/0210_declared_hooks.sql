-- Table hooks and webhooks that functions declare in their function.json: the project and the function that do, and the entry. Null: made by a request.
alter table terrane.table_hooks
  add column declared_by uuid references terrane.projects (id) on delete cascade,
  add column function_name text,
  add column entry text;
create unique index table_hooks_declared on terrane.table_hooks (declared_by, function_name, entry);
alter table terrane.webhooks
  add column declared_by uuid references terrane.projects (id) on delete cascade,
  add column function_name text,
  add column entry text;
create unique index webhooks_declared on terrane.webhooks (declared_by, function_name, entry);
