import { ITEMS, statusOf, idsOf, cql, cqlJson, TEXTS, texts, op, property, type Case } from './requests.ts'

/** CQL2: comparisons and numbers. */
export const LANGUAGE: readonly Case[] = [
  [
    'cql2-text/basic-cql2',
    () =>
      Promise.all(['id = 1', 'NOT (id > 1 OR id IS NULL)', "id=1 AND name='Spot 1'"].map((text) => idsOf(cql(text)))),
    [[1], [1], [1]],
  ],
  [
    'cql2-json/basic-cql2',
    () =>
      Promise.all([
        idsOf(cqlJson({ op: '=', args: [{ property: 'id' }, 1] })),
        statusOf(`${ITEMS}?${cqlJson({ op: 'x', args: [] })}`),
      ]),
    [[1], 400],
  ],
  [
    'basic-cql2/cql2-filter',
    () =>
      Promise.all([
        idsOf(cql('id = 1 OR id = 3 AND weight > 9')),
        idsOf(
          cqlJson({
            op: 'and',
            args: [
              { op: '>', args: [{ property: 'id' }, 1] },
              { op: 'not', args: [{ op: '>', args: [{ property: 'id' }, 3] }] },
            ],
          }),
        ),
      ]),
    [[1], [2, 3]],
  ],
  [
    'basic-cql2/binary-comparison-predicate',
    () =>
      Promise.all(
        ['id = 2', 'id <> 2 AND id < 4', 'id < 2', 'id <= 2', 'id > 24', 'id >= 24'].map((text) => idsOf(cql(text))),
      ),
    [[2], [1, 3], [1], [1, 2], [25], [24, 25]],
  ],
  [
    'basic-cql2/null-predicate',
    () =>
      Promise.all([
        idsOf(cql('kind IS NULL AND id < 9')),
        idsOf(cql('kind IS NOT NULL AND id < 5')),
        idsOf(
          cqlJson({
            op: 'and',
            args: [
              { op: 'isNull', args: [{ property: 'kind' }] },
              { op: '<', args: [{ property: 'id' }, 9] },
            ],
          }),
        ),
      ]),
    [
      [2, 5, 8],
      [1, 3, 4],
      [2, 5, 8],
    ],
  ],
  [
    'basic-cql2/binary-comparison-predicate',
    () =>
      Promise.all([
        idsOf(cql("seen = TIMESTAMP('2024-01-03T00:00:00Z')")),
        idsOf(cql("seen < TIMESTAMP('2024-01-03T00:00:00Z')")),
      ]),
    [[2], [1]],
  ],
  [
    'advanced-comparison-operators/between-predicate',
    () =>
      Promise.all([
        idsOf(cql('id BETWEEN 2 AND 4')),
        idsOf(cqlJson({ op: 'between', args: [{ property: 'id' }, 2, 4] })),
      ]),
    [
      [2, 3, 4],
      [2, 3, 4],
    ],
  ],
  [
    'advanced-comparison-operators/in-predicate',
    () =>
      Promise.all([
        idsOf(cql("name IN ('Spot 2', 'Spot 9')")),
        idsOf(cqlJson({ op: 'in', args: [{ property: 'id' }, [2, 9]] })),
      ]),
    [
      [2, 9],
      [2, 9],
    ],
  ],
  [
    'arithmetic/arithmetic',
    () =>
      Promise.all([
        idsOf(cql('weight * 2 + 1 = 4')),
        idsOf(cql('id % 10 = 5')),
        idsOf(cql('id div 2 = 3')),
        idsOf(cqlJson({ op: '=', args: [{ op: '*', args: [{ property: 'weight' }, 2] }, 3] })),
      ]),
    [[3], [5, 15, 25], [6, 7], [3]],
  ],
  [
    'property-property/withdraw-permissions',
    () => Promise.all([idsOf(cql('weight = other')), idsOf(cql('other > weight'))]),
    [[6], [1, 2, 3, 4, 5]],
  ],
  [
    'property-property/withdraw-permissions',
    () =>
      Promise.all(
        [
          '3 > id',
          "'Spot 3' = name",
          '2 IN (id, 9)',
          '3 BETWEEN id AND id',
          "'abc' LIKE 'a%' AND id = 1",
          'id = id AND id < 3',
        ].map((text) => idsOf(cql(text))),
      ),
    [[1, 2], [3], [2], [3], [1], [1, 2]],
  ],
  [
    'cql2-text/property-property',
    () =>
      Promise.all([
        idsOf(cql("TIMESTAMP('2024-01-03T00:00:00Z') > seen")),
        idsOf(cql('S_INTERSECTS(BBOX(11.015, 47, 11.045, 49), geom)')),
      ]),
    [[1], [2, 3, 4]],
  ],
  [
    'cql2-json/property-property',
    () =>
      Promise.all([
        idsOf(cqlJson(op('=', property('weight'), property('other')))),
        idsOf(cqlJson(op('<', 24, property('id')))),
        idsOf(cqlJson(op('s_intersects', { bbox: [11.015, 47, 11.045, 49] }, property('geom')))),
      ]),
    [[6], [25], [2, 3, 4]],
  ],
  [
    'basic-cql2/property',
    () =>
      Promise.all([
        texts('"name" = \'STRASSE\''),
        texts('open'),
        texts('NOT open'),
        texts('nothing = 1').catch(() => 400),
      ]),
    [[6], [1, 4, 5, 6, 7, 8], [2], 400],
  ],
  [
    'basic-cql2/null-predicate',
    () =>
      Promise.all(
        [
          'geom IS NULL',
          '(open = true) IS NULL',
          '(height + 1) IS NULL',
          'POINT(1 1) IS NULL',
          "DATE('2024-01-01') IS NOT NULL AND id = 1",
          'CASEI(name) IS NULL',
        ].map(texts),
      ),
    [[3], [3, 9, 10], [2, 9, 10], [], [1], [9]],
  ],
  [
    'basic-cql2/binary-comparison-predicate',
    // A comparison with null is null, so that its negation includes no row, either.
    () =>
      Promise.all(
        [
          'height < 4',
          'NOT (height < 4)',
          'open = true',
          'open <> true',
          "day = DATE('2024-01-02')",
          'height = +4',
          'height = 4e0',
          'TRUE',
          'FALSE',
        ].map(texts),
      ),
    [[1, 3], [4, 5, 6, 7, 8], [1, 4, 5, 6, 7, 8], [2], [2], [4], [4], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], []],
  ],
  [
    'cql2-text/advanced-comparison-operators',
    () => Promise.all(['height NOT BETWEEN 2 AND 6', "name NOT IN ('STRASSE') AND id > 5"].map(texts)),
    [
      [1, 7, 8],
      [7, 8, 10],
    ],
  ],
  [
    'cql2-json/advanced-comparison-operators',
    () => idsOf(cqlJson(op('not', op('between', property('height'), 2, 6))), TEXTS),
    [1, 7, 8],
  ],
  [
    'cql2-text/arithmetic',
    () => Promise.all(['2 + 3 * height = 11', '(2 + 3) * height = 15', '2 ^ height = 8', '-height = -4'].map(texts)),
    [[3], [3], [3], [4]],
  ],
  ['cql2-json/arithmetic', () => idsOf(cqlJson(op('=', op('div', property('height'), 2), 3)), TEXTS), [6, 7]],
  ['arithmetic/arithmetic', () => texts('height + 1 > 0 OR height * 0 = 1'), [1, 3, 4, 5, 6, 7, 8]],
]
