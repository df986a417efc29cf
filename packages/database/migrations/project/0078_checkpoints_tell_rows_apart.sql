-- The transaction that kept the checkpoint, where more rows were to come: rows of later ones are not what it speaks of.
alter table terrane.job_checkpoints add column rows_before xid8;
