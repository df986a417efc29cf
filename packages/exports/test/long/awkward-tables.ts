/** Tables that files have no easy words for; each has a column `n`, by which its rows are told, unless it is about columns. */
export const AWKWARD: Readonly<Record<string, string>> = {
  dimensions: `(n int4, geom geometry); insert into dimensions values (1, 'SRID=4326;POINT(1 2)'), (2, 'SRID=4326;POINT Z(3 4 5)'),
    (3, 'SRID=4326;POINT M(5 6 7)'), (4, 'SRID=4326;POINT ZM(7 8 9 10)'), (5, null), (6, 'SRID=4326;LINESTRING Z(0 0 1,1 1 2)')`,
  heights: `(n int4, geom geometry(LineStringZ, 4326)); insert into heights select i, st_setsrid(st_makeline(st_makepoint(i, 0, 5),
    st_makepoint(i, i, 7.25)), 4326) from generate_series(1, 40) i`,
  measures: `(n int4, geom geometry(PointZM, 25832)); insert into measures values (1, 'SRID=25832;POINT ZM(500000 5600000 3 4)')`,
  empties: `(n int4, geom geometry); insert into empties values (1, 'SRID=4326;POINT EMPTY'), (2, 'SRID=4326;LINESTRING EMPTY'),
    (3, 'SRID=4326;POLYGON EMPTY'), (4, 'SRID=4326;MULTIPOLYGON EMPTY'), (5, 'SRID=4326;GEOMETRYCOLLECTION EMPTY'),
    (6, 'SRID=4326;MULTIPOINT(EMPTY,(1 2))'), (7, 'SRID=4326;POINT(1 1)')`,
  collections: `(n int4, geom geometry); insert into collections values
    (1, 'SRID=4326;GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))'),
    (2, 'SRID=4326;GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)),POLYGON((0 0,1 0,1 1,0 0)))'),
    (3, 'SRID=4326;GEOMETRYCOLLECTION Z(POINT Z(1 2 3),MULTILINESTRING Z((0 0 1,1 1 2),(2 2 2,3 3 3)))')`,
  curves: `(n int4, geom geometry); insert into curves values (1, 'SRID=4326;CURVEPOLYGON(CIRCULARSTRING(0 0,1 1,2 0,1 -1,0 0))'),
    (2, 'SRID=4326;COMPOUNDCURVE((0 0,1 1),CIRCULARSTRING(1 1,2 2,3 1))'), (3, 'SRID=4326;MULTICURVE((0 0,1 1),CIRCULARSTRING(0 0,1 1,2 0))')`,
  surfaces: `(n int4, geom geometry); insert into surfaces values (1, 'SRID=4326;TRIANGLE((0 0,1 0,1 1,0 0))'),
    (2, 'SRID=4326;TIN(((0 0,1 0,1 1,0 0)),((0 0,1 1,0 1,0 0)))'), (3, 'SRID=4326;POLYHEDRALSURFACE(((0 0,1 0,1 1,0 0)))')`,
  several: `(n int4, label geometry(Point, 3857), geom geometry(Polygon, 4326), centre geography); insert into several values
    (1, 'SRID=3857;POINT(0 5)', 'SRID=4326;POLYGON((0 0,1 0,1 1,0 0))', 'POINT(1 2)'), (2, null, null, null)`,
  numbers: `(n int4, single float4, double float8, free numeric, money numeric(10, 2), tiny numeric(3, 5), round numeric(5, -2), long numeric(38, 10),
    small int2, big int8); insert into numbers values (1, 1.1, 0.1, 'NaN', 'NaN', 0.00123, 12300, 1234567890123456789.5, -32768, 9223372036854775807),
    (2, 'NaN', 'NaN', 'Infinity', -0.05, -0.00999, -100, -0.0000000001, 32767, -9223372036854775808), (3, 'Infinity', '-Infinity', 1e40, 99999999.99, 0, 0, 0, 0, 9007199254740993),
    (4, 3.4028235e38, 1.7976931348623157e308, 0.1, null, null, null, null, null, 0), (5, 1e-45, 5e-324, 12345678901234567890.5, 0, 0, 0, 0, 1, 1)`,
  arrays: `(n int4, ints int4[], texts text[], floats float8[], grid int4[][], stamps timestamp[], docs jsonb[]); insert into arrays values
    (1, '{1,null,3}', array['a', null, 'q"u', 'c,d'], '{1.5,NaN}', '{{1,2},{3,4}}', '{2024-02-29 13:45:10}', array['{"a": 1}'::jsonb]), (2, '{}', '{}', null, null, null, null)`,
  domains: `(n int4, mood public.mood, age public.age, seen public.seen, name public.short, geom geometry(Point, 4326)); insert into domains values
    (1, 'so so', 42, '2024-02-29T13:45:10', 'x', 'SRID=4326;POINT(1 2)'), (2, null, null, null, null, null)`,
  documents: `(n int4, plain json, doc jsonb); insert into documents values (1, E'{"a":\\n  1,\\r\\n "b": [1.10, 2]}', '{"n": 9007199254740993, "t": "\\u00e4\\n"}'),
    (2, '"text"', 'null'), (3, null, '[]')`,
  bytes: `(n int4, raw bytea); insert into bytes values (1, '\\x00ff10'), (2, '\\x'), (3, null)`,
  kinds: `(n int4, id uuid, lasts interval, host inet, bits bit(4), span int4range, fixed char(5), cash money, at timetz, place point, words tsvector);
    insert into kinds values (1, '01234567-89ab-cdef-0123-456789abcdef', '1 year 2 days 03:04:05.5', '192.168.0.1/24', '1010', '[1,5)', 'ab', 12.5, '13:45:10+05:45', '(1,2)', 'a b')`,
  eras: `(n int4, day date, at timestamp, instant timestamptz); insert into eras values (1, '0044-03-15 BC', '0044-03-15T12:00:00 BC', '0044-03-15T12:00:00Z BC'),
    (2, 'infinity', 'infinity', '-infinity'), (3, '12024-01-02', '12024-01-02T03:04:05', '12024-01-02T03:04:05Z'), (4, '0001-01-01', '0001-01-01T00:00:00', '0001-01-01T00:00:00Z'),
    (5, '1582-10-10', '1582-10-10T00:00:00', '1582-10-10T00:00:00Z')`,
  stamps: `(n int4, at timestamp, instant timestamptz, hour time, geom geometry(Point, 4326)); insert into stamps values
    (1, '2024-02-29T13:45:10.123456', '2024-02-29T13:45:10.123456+05:45', '13:45:10.123456', 'SRID=4326;POINT(1 2)'),
    (2, '2024-03-31T02:30:00', '1890-01-01T00:00:00+00:53:28', '00:00:00', 'SRID=4326;POINT(1 3)'), (3, '1969-12-31T23:59:59.999', '1969-12-31T23:59:59.999Z', '23:59:59', 'SRID=4326;POINT(2 2)')`,
  names: `(fid int4, n int4, id text, "ID" text, ogc_fid int4, "quo""te" text, "dot.ted" text, "Sp ace, comma" text, "wkt" text, "bbox" text, "geometry" text, "GEOM" text, "ÜML" text,
    geom geometry(Point, 4326)); insert into names values (7, 1, 'a', 'b', 3, 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'SRID=4326;POINT(1 2)')`,
  nothing: `(n int4, at timestamp, geom geometry(Point, 4326))`,
  flat: `(n int4, name text); insert into flat values (1, 'one'), (2, null)`,
  bare: `(geom geometry(Point, 4326)); insert into bare values ('SRID=4326;POINT(1 2)')`,
  systems: `(n int4, geom geometry); insert into systems values (1, 'SRID=3857;POINT(111319.49079327357 0)'), (2, 'SRID=4326;POINT(1 0)')`,
  metres: `(n int4, geom geometry(Point, 25832)); insert into metres values (1, 'SRID=25832;POINT(500000 5600000)')`,
  globe: `(n int4, geom geography(Polygon)); insert into globe values (1, 'POLYGON((179 0,-179 0,-179 1,179 1,179 0))')`,
  esri: `(n int4, geom geometry(Point, 102013)); insert into esri values (1, 'SRID=102013;POINT(100000 200000)')`,
  texts: `(n int4, t text, geom geometry(Point, 4326)); insert into texts values (1, '', 'SRID=4326;POINT(1 2)'), (2, ' blank ', 'SRID=4326;POINT(1 2)'), (3, E'two\\nlines\\r\\ntab\\t"q"', 'SRID=4326;POINT(1 2)'),
    (4, '=1+1', 'SRID=4326;POINT(1 2)'), (5, 'Žluťoučký 🐎', 'SRID=4326;POINT(1 2)'), (6, repeat('ä', 70000), 'SRID=4326;POINT(1 2)'), (7, null, 'SRID=4326;POINT(1 2)'), (8, '007', 'SRID=4326;POINT(1 2)'), (9, E'\\x01\\x1f', 'SRID=4326;POINT(1 2)')`,
  infinite: `(n int4, geom geometry(Point, 4326)); insert into infinite values (1, st_setsrid(st_makepoint('NaN', 1), 4326)),
    (2, st_setsrid(st_makepoint('Infinity', 1), 4326)), (3, 'SRID=4326;POINT(1 2)')`,
  'odd."name"': `(n int4, yes bool, geom geometry(Point, 4326)); insert into "odd.""name""" values (1, true, 'SRID=4326;POINT(1 2)'), (2, false, null)`,
}

/** Types that tables above use. */
export const TYPES = `create type public.mood as enum ('happy', 'so so'); create domain public.age as int4 check (value > 0);
  create domain public.seen as timestamp; create domain public.short as varchar(5)`

/** The statements that make a table. */
export function createSql(table: string, tables: Readonly<Record<string, string>>): string {
  return `create table public."${table.replaceAll('"', '""')}" ${tables[table]!}`
}
