-- jsonb puts keys in an order of its own, and what is made of a note, e.g. a file's metadata, would differ by that.
alter table terrane.job_checkpoints alter column state type json using state::json;
