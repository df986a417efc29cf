import { expect } from 'vitest'
import { idsOf, cql, cqlJson, TEXTS, SPANS, texts, op, property, type Case } from './requests.ts'

/** CQL2: places and times. */
export const PLACES_AND_TIMES: readonly Case[] = [
  [
    'basic-spatial-functions/spatial-functions',
    () =>
      Promise.all([
        idsOf(cql('S_INTERSECTS(geom, POINT(11.02 48))')),
        idsOf(cqlJson({ op: 's_intersects', args: [{ property: 'geom' }, { bbox: [11.015, 47, 11.045, 49] }] })),
      ]),
    [expect.any(Array), [2, 3, 4]],
  ],
  [
    'basic-spatial-functions-plus/spatial-data-types',
    () =>
      Promise.all(
        [
          'POLYGON((11.015 47, 11.045 47, 11.045 49, 11.015 49, 11.015 47))',
          'MULTIPOLYGON(((11.015 47, 11.045 47, 11.045 49, 11.015 49, 11.015 47)))',
          'GEOMETRYCOLLECTION(POLYGON((11.015 47, 11.045 47, 11.045 49, 11.015 49, 11.015 47)))',
        ].map((wkt) => idsOf(cql(`S_INTERSECTS(geom, ${wkt})`))),
      ),
    [
      [2, 3, 4],
      [2, 3, 4],
      [2, 3, 4],
    ],
  ],
  [
    'spatial-functions/spatial-functions',
    () =>
      Promise.all(
        [
          'S_EQUALS(geom, LINESTRING(2 2, 0 0))',
          'S_DISJOINT(geom, BBOX(0, 0, 3, 3))',
          'S_TOUCHES(geom, LINESTRING(2 2, 3 3))',
          'S_WITHIN(geom, BBOX(-1, -1, 3, 3))',
          'S_OVERLAPS(geom, LINESTRING(1 1, 3 3))',
          'S_CROSSES(geom, LINESTRING(0 2, 2 0))',
          'S_CONTAINS(geom, POINT(1 1))',
        ].map((text) => idsOf(cql(text), '/collections/public.lines/items')),
      ),
    [[1], [3], [1], [1, 2], [1], [1], [1, 2]],
  ],
  [
    'temporal-functions/temporal-predicates',
    () =>
      Promise.all(
        [
          "T_AFTER(seen, TIMESTAMP('2024-01-25T00:00:00Z'))",
          "T_BEFORE(seen, TIMESTAMP('2024-01-03T00:00:00Z'))",
          "T_EQUALS(seen, TIMESTAMP('2024-01-03T00:00:00Z'))",
          "T_DURING(seen, INTERVAL('2024-01-02T12:00:00Z', '2024-01-04T12:00:00Z'))",
          "T_INTERSECTS(seen, INTERVAL('2024-01-03T00:00:00Z', '2024-01-04T00:00:00Z'))",
          "T_DISJOINT(seen, INTERVAL('2024-01-03T00:00:00Z', '..'))",
        ].map((text) => idsOf(cql(text))),
      ),
    [[25], [1], [2], [2, 3], [2, 3], [1]],
  ],
  [
    'basic-spatial-functions/spatial-predicate',
    () =>
      Promise.all([texts('S_INTERSECTS(geom, BBOX(0, 0, 3, 3))'), texts('NOT S_INTERSECTS(geom, BBOX(0, 0, 8, 8))')]),
    [
      [1, 2],
      [9, 10],
    ],
  ],
  [
    'cql2-text/basic-spatial-functions',
    () => Promise.all(['S_INTERSECTS(geom, POINT(1 1))', 'S_INTERSECTS(geom, BBOX(0, 0, -9, 1, 1, 9))'].map(texts)),
    [[1], [1]],
  ],
  [
    'cql2-json/basic-spatial-functions',
    () => idsOf(cqlJson(op('s_intersects', property('geom'), { type: 'Point', coordinates: [1, 1] })), TEXTS),
    [1],
  ],
  [
    'cql2-text/basic-spatial-functions-plus',
    () =>
      Promise.all(
        [
          'POINT Z(1 1 5)',
          'POINT(1 1 5)',
          'LINESTRING Z(0 0 1, 1 1 1)',
          'MULTIPOINT((1 1), (8 8))',
          'MULTIPOINT Z((1 1 5))',
          'MULTILINESTRING((0 0, 1 1), (8 8, 9 9))',
          'POLYGON((0 0, 3 0, 3 3, 0 3, 0 0), (1.5 1.5, 2.5 1.5, 2.5 2.5, 1.5 2.5, 1.5 1.5))',
          'GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(2 2, 3 3))',
        ].map((wkt) => texts(`S_INTERSECTS(geom, ${wkt})`)),
      ),
    [[1], [1], [1], [1, 8], [1], [1, 8, 9], [1], [1, 2]],
  ],
  [
    'cql2-json/basic-spatial-functions-plus',
    () =>
      Promise.all(
        [
          {
            type: 'MultiPoint',
            coordinates: [
              [1, 1],
              [8, 8, 5],
            ],
          },
          {
            type: 'MultiLineString',
            coordinates: [
              [
                [0, 0],
                [1, 1],
              ],
            ],
          },
          {
            type: 'MultiPolygon',
            coordinates: [
              [
                [
                  [0, 0],
                  [3, 0],
                  [3, 3],
                  [0, 0],
                ],
              ],
            ],
          },
          { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 1] }] },
        ].map((shape) => idsOf(cqlJson(op('s_intersects', property('geom'), shape)), TEXTS)),
      ),
    [[1, 8], [1], [1, 2], [1]],
  ],
  [
    'cql2-text/spatial-functions',
    () =>
      Promise.all(
        ['S_WITHIN(geom, BBOX(0, 0, 3, 3))', 'S_CONTAINS(BBOX(0, 0, 3, 3), geom)', 'S_EQUALS(POINT(2 2), geom)'].map(
          texts,
        ),
      ),
    [[1, 2], [1, 2], [2]],
  ],
  [
    'cql2-json/spatial-functions',
    () =>
      Promise.all(
        [
          ['s_equals', [2, 2], [0, 0]],
          ['s_disjoint', [5, 5], [6, 6]],
          ['s_touches', [2, 2], [3, 3]],
          ['s_overlaps', [1, 1], [3, 3]],
          ['s_crosses', [0, 2], [2, 0]],
        ].map(([name, ...coordinates]) =>
          idsOf(
            cqlJson(op(name as string, property('geom'), { type: 'LineString', coordinates })),
            '/collections/public.lines/items',
          ),
        ),
      ),
    [[1], [1, 2], [1], [1], [1]],
  ],
  [
    'temporal-functions/temporal-functions',
    // Spans of ten days that begin a day apart, beside that from the 3rd to the 13th.
    () =>
      Promise.all(
        [
          ['T_AFTER', '2023-12-01', '2024-01-02'],
          ['T_BEFORE', '2024-01-13', '2024-02-01'],
          ['T_CONTAINS', '2024-01-04', '2024-01-12'],
          ['T_DISJOINT', '2024-01-13', '2024-02-01'],
          ['T_DURING', '2024-01-02', '2024-01-14'],
          ['T_EQUALS', '2024-01-03', '2024-01-13'],
          ['T_FINISHEDBY', '2024-01-05', '2024-01-13'],
          ['T_FINISHES', '2024-01-01', '2024-01-13'],
          ['T_INTERSECTS', '2024-01-13', '2024-01-13'],
          ['T_MEETS', '2024-01-13', '2024-02-01'],
          ['T_METBY', '2024-01-01', '2024-01-03'],
          ['T_OVERLAPPEDBY', '2024-01-01', '2024-01-12'],
          ['T_OVERLAPS', '2024-01-05', '2024-01-14'],
          ['T_STARTEDBY', '2024-01-03', '2024-01-05'],
          ['T_STARTS', '2024-01-03', '2024-02-01'],
        ].map(([name, from, to]) =>
          idsOf(cql(`${name}(INTERVAL(start, stop), INTERVAL('${from}T00:00:00Z', '${to}T00:00:00Z'))`), SPANS),
        ),
      ),
    [[2, 3], [1], [2], [1], [2], [2], [2], [2], [2, 3], [2], [2], [2, 3], [1, 2], [2], [2]],
  ],
  [
    'temporal-functions/temporal-predicates',
    () => Promise.all(["T_AFTER(day, DATE('2024-01-05'))", "NOT T_AFTER(day, DATE('2024-01-05'))"].map(texts)),
    [
      [6, 7],
      [1, 2, 4, 5],
    ],
  ],
  [
    'cql2-text/temporal-functions',
    () => idsOf(cql("T_DURING(INTERVAL(start, stop), INTERVAL('..', '2024-01-14T00:00:00Z'))"), SPANS),
    [1, 2],
  ],
  [
    'cql2-json/temporal-functions',
    () =>
      Promise.all([
        idsOf(
          cqlJson(
            op(
              't_during',
              { interval: [property('start'), property('stop')] },
              { interval: ['2024-01-02', '2024-01-14'] },
            ),
          ),
          SPANS,
        ),
        idsOf(cqlJson(op('t_after', property('start'), { timestamp: '2024-01-03T00:00:00Z' })), SPANS),
        idsOf(cqlJson(op('t_before', property('day'), { date: '2024-01-02' })), TEXTS),
      ]),
    [[2, 3], [3], [1]],
  ],
]
