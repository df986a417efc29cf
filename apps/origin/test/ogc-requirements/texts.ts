import { idsOf, statusOf, cql, cqlJson, TEXTS, texts, op, property, type Case } from './requests.ts'

/** CQL2: texts. */
export const CQL_TEXTS: readonly Case[] = [
  [
    'advanced-comparison-operators/like-predicate',
    () =>
      Promise.all([
        idsOf(cql("name LIKE 'Spot 1_' AND id < 12")),
        idsOf(cql("name LIKE '%5'")),
        idsOf(cqlJson({ op: 'like', args: [{ property: 'name' }, '%5'] })),
      ]),
    [
      [10, 11],
      [5, 15, 25],
      [5, 15, 25],
    ],
  ],
  [
    'case-insensitive-comparison/casei-function',
    () =>
      Promise.all([
        idsOf(cql("CASEI(name) = CASEI('SPOT 3')")),
        idsOf(
          cqlJson({
            op: '=',
            args: [
              { op: 'casei', args: [{ property: 'name' }] },
              { op: 'casei', args: ['sPOT 3'] },
            ],
          }),
        ),
      ]),
    [[3], [3]],
  ],
  [
    'cql2-text/escaping',
    // Paths of Windows with single backslashes would be other texts: `\t` is a tab. A backslash that escapes nothing stays.
    () =>
      Promise.all(
        [
          'C:\\temp',
          'c:\\data',
          '\\\\host\\new',
          'data\\new\\dir',
          "C:\\' OR name = 'x",
          'C:\\\\temp',
          'back\\slash',
        ].map((text) => statusOf(`${TEXTS}?${cql(`name = '${text}'`)}`)),
      ),
    [400, 400, 400, 400, 400, 200, 200],
  ],
  [
    'advanced-comparison-operators/like-predicate',
    // A backslash that escapes nothing is itself, in both languages.
    () =>
      Promise.all([
        texts("name LIKE 'back\\slash'"),
        texts("CASEI(name) LIKE CASEI('BACK\\Sl%')"),
        idsOf(cqlJson(op('like', property('name'), 'back\\slash')), TEXTS),
        idsOf(cqlJson(op('like', property('name'), 'back\\')), TEXTS),
        texts("name LIKE 'C:\\\\%'"),
      ]),
    [[4], [4], [4], [], []],
  ],
  [
    'cql2-text/escaping',
    () =>
      Promise.all(
        [
          "name = 'O''Neill'",
          "name = 'O\\'Neill'",
          "name = 'tab\\tstop'",
          "name = 'line\\nend'",
          "name = 'back\\\\slash'",
          "name = '\\a\\b\\v\\f\\r'",
          "name = 'back\\slash'",
        ].map(texts),
      ),
    [[1], [1], [2], [3], [4], [10], [4]],
  ],
  [
    'advanced-comparison-operators/like-predicate',
    // The pattern's own escapes, and no match of null.
    () =>
      Promise.all(
        [
          "name LIKE '50\\%\\_a'",
          "name LIKE '50\\_%'",
          "name LIKE 'back\\\\slash'",
          "name LIKE 'O\\'N%'",
          "name NOT LIKE '%'",
          "name LIKE ''",
        ].map(texts),
      ),
    [[5], [], [4], [1], [], []],
  ],
  [
    'case-insensitive-comparison/casei-function',
    () => Promise.all([texts("CASEI(name) = CASEI('straSSe')"), texts('CASEI(name) IS NULL')]),
    [[6, 7], [9]],
  ],
  [
    'accent-insensitive-comparison/accenti-function',
    () =>
      Promise.all([
        texts("ACCENTI(name) = ACCENTI('Chisinau')"),
        texts("ACCENTI(CASEI(name)) LIKE ACCENTI(CASEI('CHIȘ%'))"),
        texts('ACCENTI(name) IS NULL'),
      ]),
    [[8], [8], [9]],
  ],
  [
    'cql2-text/accent-insensitive-comparison',
    () => texts("ACCENTI(name) IN (ACCENTI('chișinău'), ACCENTI('Chișinău'))"),
    [8],
  ],
  [
    'cql2-json/accent-insensitive-comparison',
    () => idsOf(cqlJson(op('=', op('accenti', property('name')), op('accenti', 'Chisinau'))), TEXTS),
    [8],
  ],
  ['cql2-text/case-insensitive-comparison', () => texts("CASEI(name) LIKE CASEI('stra%')"), [6, 7]],
  [
    'cql2-json/case-insensitive-comparison',
    () => idsOf(cqlJson(op('like', op('casei', property('name')), op('casei', 'STRA%'))), TEXTS),
    [6, 7],
  ],
]
