-- Each run of a job has a number that no run before it had: of two runs of a job the one with the larger number is later.
create sequence terrane.run_numbers;
