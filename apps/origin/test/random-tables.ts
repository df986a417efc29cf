/** Tables of random rows, related in every way. */

export type Random = () => number
export type Row = Readonly<Record<string, number | string | null>>

export const TABLES_SQL = `
  create schema if not exists cases; grant usage on schema cases to anon;
  create table cases.districts (id int primary key, name text, kind text);
  create table cases.places (id int primary key, name text, kind text, size int, district int references cases.districts (id));
  create table cases.people (id int primary key, name text, kind text, size int,
    home int references cases.places (id), boss int references cases.people (id));
  create table cases.visits (person int references cases.people (id), place int references cases.places (id), id int, size int, kind text,
    primary key (person, place));
  grant select on all tables in schema cases to anon;`

const ids = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

/** Rows in an order in which foreign keys hold. */
export function randomTables(random: Random): Record<string, Row[]> {
  const int = (n: number) => Math.floor(random() * n)
  const some = (n: number) => (random() < 0.25 ? null : 1 + int(n))
  const common = (id: number) => ({ id, kind: random() < 0.15 ? null : 'abc'[int(3)]! })
  const size = () => (random() < 0.2 ? null : int(20))
  const pairs = [...new Set(ids(40).map(() => `${1 + int(12)} ${1 + int(20)}`))].map((pair) =>
    pair.split(' ').map(Number),
  )
  return {
    districts: ids(5).map((id) => ({ ...common(id), name: `d${id}` })),
    places: ids(20).map((id) => ({ ...common(id), name: `p${id}`, size: size(), district: some(5) })),
    people: ids(12).map((id) => ({
      ...common(id),
      name: `q${id}`,
      size: size(),
      home: some(20),
      boss: id === 1 || random() < 0.3 ? null : 1 + int(id - 1),
    })),
    visits: pairs.map(([person, place], i) => ({ ...common(i + 1), size: size(), person: person!, place: place! })),
  }
}
