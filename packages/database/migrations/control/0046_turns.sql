-- The order in which jobs of one task are served: each project's last number, and the one that was served last (of the
-- empty project). See docs/decisions/0983.
create table terrane.turns (
  task text not null,
  project text not null,
  turn bigint not null,
  primary key (task, project)
);
