-- Classifiers of embeddings: what was learnt of examples, in versions, with what the vectors were that it reads.

create table geoembeddings.classifiers (
  name text not null check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  version integer not null check (version > 0),
  -- The user who owns it; null when it belongs to the service role.
  owner uuid,
  -- Everybody reads it, or its owner and the service role.
  is_public boolean not null,
  head text not null check (head in ('knn', 'logistic', 'linear', 'centroids')),
  classes text[] not null,
  -- The table of its examples, which may be gone, and the members of its catalogue row by which tables are compared.
  table_name text not null,
  identity jsonb not null,
  settings jsonb not null default '{}',
  -- What it said of examples that were held out; null where none could be.
  validation jsonb,
  examples bigint not null,
  attribution text,
  job_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  primary key (name, version)
);

-- Weights, centres or the vectors of the examples: little-endian float32. For the service role, since they may be rows of a table.
create table geoembeddings.classifier_weights (
  name text not null,
  version integer not null,
  weights bytea not null,
  primary key (name, version),
  foreign key (name, version) references geoembeddings.classifiers on delete cascade on update cascade
);

alter table geoembeddings.classifiers enable row level security;
create policy visible on geoembeddings.classifiers for select using (geoembeddings.can_read(owner, is_public));
create policy own_update on geoembeddings.classifiers for update
  using (geoembeddings.can_write(owner)) with check (geoembeddings.can_write(owner));
create policy own_delete on geoembeddings.classifiers for delete using (geoembeddings.can_write(owner));
grant select on geoembeddings.classifiers to anon, authenticated, service_role;
grant update (is_public), delete on geoembeddings.classifiers to authenticated, service_role;

alter table geoembeddings.classifier_weights enable row level security;
create policy service on geoembeddings.classifier_weights for select using (geoembeddings.is_trusted());
grant select on geoembeddings.classifier_weights to service_role;
