import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { parseQuery } from './parse-query.ts'
import type { Condition, FieldPath, Filter, RestQuery } from './query.ts'

const parse = (text: string) => parseQuery(new URLSearchParams(text))

const NO_AGGREGATE = { aggregate: null, aggregateCast: null } as const

test.each([
  ['or', `(${'"'.repeat(64)})`],
  ['or', `(${'"'.repeat(16_000)})`],
  ['or', `(${'"'.repeat(15_999)}.`],
  ['or', `(${'"a"'.repeat(5000)}x)`],
  ['or', `(${'a'.repeat(16_000)})`],
  ['and', `${'('.repeat(8000)}${')'.repeat(8000)}`],
  ['or', `(${'and('.repeat(3000)}${')'.repeat(3001)}`],
  ['select', `${'"'.repeat(15_999)}:`],
  ['order', `${'.asc.desc'.repeat(1700)}",`],
  ['name', `${'a'.repeat(16_000)}(`],
  ['name', `eq${'(any)'.repeat(3000)}`],
  ['name', `in.(${'"'.repeat(15_001)})`],
  ['name', 'x'.repeat(20_000)],
  ['select', 'a('.repeat(8000)],
  ['select', `${'a('.repeat(5000)}${')'.repeat(5000)}`],
  ['order', `${'a('.repeat(5000)}b)`],
])('%s with hostile punctuation is refused, however long', (name, value) => {
  for (const isTree of [false, true])
    expect(() => parseQuery(new URLSearchParams([[name, value]]), isTree)).toThrow('failed to parse')
})

test.each(['a%00b=eq.1', 'select=a%00', 'or=(a.eq.%00)', 'a=eq.x%00'])('a zero byte is refused: %s', (text) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ kind: 'invalid', code: 'PGRST100' }) as Error)
})

test('names of an object’s prototype are names like others', () => {
  expect(parse('select=srid::constructor').select).toEqual([
    { alias: null, field: { column: 'srid', path: [] }, cast: 'constructor', ...NO_AGGREGATE },
  ])
})

test('a column is read under 32 further names at most', () => {
  const names = (count: number, item: string) => Array.from({ length: count }, (_, i) => `a${i}:${item}`).join(',')
  for (const item of ['name', 'data->a', 'name.max()']) {
    expect(parse(`select=${names(33, item)}`).select).toHaveLength(33)
    expect(() => parse(`select=${names(34, item)}`)).toThrow('failed to parse')
  }
  expect(() => parse(`select=${names(20, 'name')},b(${names(16, 'name')}),c(${names(16, 'name')})`)).toThrow(
    'failed to parse',
  )
  // A typical dashboard query: all functions over many columns, counts, members of one document.
  const functions = (column: string) => ['sum', 'avg', 'max', 'min'].map((one) => `${column}_${one}:${column}.${one}()`)
  const columns = Array.from({ length: 40 }, (_, i) => `c${i}`)
  expect(parse(`select=${columns.flatMap(functions).join(',')}`).select).toHaveLength(160)
  expect(parse(`select=${names(60, 'count()')}`).select).toHaveLength(60)
  expect(parse(`select=${columns.map((key) => `data->>${key}`).join(',')}`).select).toHaveLength(40)
})

test('quotes keep what is special out of the syntax', () => {
  expect(parse('select="a->b":"c,d:e"->"k->l"').select).toEqual([
    { alias: 'a->b', field: { column: 'c,d:e', path: [{ key: 'k->l', text: false }] }, cast: null, ...NO_AGGREGATE },
  ])
  expect(parse('or=("a.b".eq."x,\\"y\\")",c.is.null)').conditions).toMatchObject([
    {
      kind: 'or',
      terms: [
        { field: { column: 'a.b' }, value: 'x,"y")' },
        { operator: 'is', value: 'null' },
      ],
    },
  ])
})

test.each([
  ['name=in.(Cin[ema,Kiosk)', ['Cin[ema', 'Kiosk']],
  ['name=in.(a{b,c}d,e)f)', ['a{b', 'c}d', 'e)f']],
  ['name=in.( lead,trail )', [' lead', 'trail ']],
  ['name=in.(5" pipe,b)', ['5" pipe', 'b']],
  ['name=in.("a,b","c\\"d",)', ['a,b', 'c"d', '']],
  ['name=in.("a"b,c)', ['"a"b', 'c']],
  ['name=in.()', []],
])('a list is what stands between its commas, unless an element is quoted: %s', (text, value) => {
  expect(parse(text).conditions).toMatchObject([{ value }])
})

test.each<[string, unknown[]]>([
  ['(a.eq.Cin[ema,b.eq.x)', ['Cin[ema', 'x']],
  ['(a.eq.x{y,b.eq.}z)', ['x{y', '}z']],
  ['(a.cs.{1,"2}",3},b.eq.5" pipe)', ['{1,"2}",3}', '5" pipe']],
  ['(a.in.(5" pipe,"x,y"), "b".eq."q,r")', [['5" pipe', 'x,y'], 'q,r']],
])('braces and quotes of a logic tree count where a value begins: %s', (text, values) => {
  const [tree] = parse(`or=${encodeURIComponent(text)}`).conditions
  expect(tree).toMatchObject({ terms: values.map((value) => ({ value })) })
})

test('an instruction of an embedded resource is a whole name, and the last key of a path is none', () => {
  const query = parseQuery(new URLSearchParams('select=id,a(id)&a.data->x.order=eq.1&a.order=id'), true)
  expect(query.embeds[0]).toMatchObject({
    conditions: [{ field: { column: 'data', path: [{ key: 'x.order' }] } }],
    order: [{ field: { column: 'id' } }],
  })
})

test('a filter reaches an embedded resource by its alias, or by its table where no alias has that name', () => {
  const query = parseQuery(
    new URLSearchParams('select=id,who:users(id),users:others(id)&users.id=eq.1&others.id=eq.2'),
    true,
  )
  expect(query.embeds).toMatchObject([{ conditions: [] }, { conditions: [{ value: '1' }, { value: '2' }] }])
  const alone = parseQuery(new URLSearchParams('select=id,who:users(id)&users.id=eq.1'), true)
  expect(alone.embeds).toMatchObject([{ conditions: [{ value: '1' }] }])
})

test('every query of the grammar is read as it was written', () => {
  const random = seededRandom(20)
  for (let i = 0; i < 2000; i++) {
    const query = randomQuery(random)
    expect(parseQuery(write(query, random))).toEqual(query)
  }
})

test('a random text is read or refused, and never anything else', () => {
  const random = seededRandom(21)
  const alphabet = [
    '"',
    '\\',
    '(',
    ')',
    '{',
    '}',
    ',',
    '.',
    ':',
    '::',
    '->',
    '->>',
    'a',
    'eq',
    'not.',
    'or',
    'and(',
    ' ',
    '...',
    '!',
    'count()',
  ]
  const names = ['select', 'order', 'or', 'and', 'not.and', 'x', 'limit', 'columns', '"a.b"', 'a->b']
  for (let i = 0; i < 20_000; i++) {
    const value = Array.from({ length: Math.floor(random() * 12) }, () => pick(alphabet, random)).join('')
    try {
      parseQuery(new URLSearchParams([[pick(names, random), value]]), i % 2 === 0)
    } catch (error) {
      expect(error).toMatchObject({ kind: 'invalid', code: expect.stringMatching(/^PGRST10[08]$/) as string })
    }
  }
})

type Random = () => number
const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)] as T
const SPECIAL = ['plain', 'with space', 'a,b', 'a.b', 'q"q', 'b\\s', '(x)', '{y}', 'a->b', 'a:b', 'é', 'constructor']
const OPERATORS = ['eq', 'neq', 'gt', 'lt', 'like', 'is', 'cs', 'ov', 'wfts'] as const

function randomField(random: Random): FieldPath {
  const steps = random() < 0.7 ? 0 : 1 + Math.floor(random() * 2)
  const path = Array.from({ length: steps }, () => ({ key: pick(SPECIAL, random), text: random() < 0.5 }))
  return { column: pick(SPECIAL, random), path }
}

function randomFilter(random: Random): Filter {
  const base = { kind: 'filter', negated: random() < 0.3, field: randomField(random), quantifier: null } as const
  const list = () => Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(SPECIAL, random))
  if (random() < 0.2) return { ...base, operator: 'in', config: null, value: list() }
  if (random() < 0.2)
    return { ...base, operator: 'like', quantifier: pick(['any', 'all'], random), config: null, value: list() }
  const operator = pick(OPERATORS, random)
  const config = operator === 'wfts' && random() < 0.5 ? 'english' : null
  return { ...base, operator, config, value: pick(SPECIAL, random) }
}

function randomCondition(random: Random, depth: number): Condition {
  if (depth > 2 || random() < 0.6) return randomFilter(random)
  const terms = Array.from({ length: 1 + Math.floor(random() * 3) }, () => randomCondition(random, depth + 1))
  return { kind: pick(['and', 'or'], random), negated: random() < 0.3, terms }
}

function randomQuery(random: Random): RestQuery {
  const some = <T>(make: () => T) => Array.from({ length: Math.floor(random() * 4) }, make)
  const select = some(() => ({
    field: randomField(random),
    alias: random() < 0.3 ? pick(SPECIAL, random) : null,
    cast: random() < 0.3 ? pick(['text', 'double precision'], random) : null,
    ...NO_AGGREGATE,
  }))
  const direction = () => ({
    field: randomField(random),
    relation: null,
    descending: random() < 0.5,
    nulls: pick([null, 'first', 'last'] as const, random),
  })
  return {
    select: select.length > 0 ? select : null,
    embeds: [],
    conditions: some(() => randomCondition(random, 0)),
    order: some(direction),
    limit: random() < 0.5 ? Math.floor(random() * 100) : null,
    offset: Math.floor(random() * 3),
    columns: random() < 0.2 ? ['a', 'b,c'] : null,
    onConflict: random() < 0.2 ? ['x"y'] : null,
  }
}

/** Quotes a text, in either way of escaping. */
function quoted(text: string, random: Random): string {
  const doubled = random() < 0.5 && !text.includes('\\')
  return `"${doubled ? text.replaceAll('"', '""') : text.replaceAll(/["\\]/g, '\\$&')}"`
}

function writeField({ column, path }: FieldPath, random: Random): string {
  return quoted(column, random) + path.map(({ key, text }) => (text ? '->>' : '->') + quoted(key, random)).join('')
}

function writeFilter(filter: Filter, random: Random, nested: boolean): string {
  const { negated, operator, quantifier, config, value } = filter
  const list = (values: readonly string[]) => values.map((v) => quoted(v, random)).join(',')
  const text =
    typeof value !== 'string'
      ? operator === 'in'
        ? `(${list(value)})`
        : `{${list(value)}}`
      : nested
        ? quoted(value, random)
        : value
  const argument = quantifier ?? config
  return `${negated ? 'not.' : ''}${operator}${argument ? `(${argument})` : ''}.${text}`
}

function writeTerm(condition: Condition, random: Random): string {
  if (condition.kind === 'filter')
    return `${writeField(condition.field, random)}.${writeFilter(condition, random, true)}`
  const terms = condition.terms.map((term) => writeTerm(term, random)).join(pick([',', ', '], random))
  return `${condition.negated ? 'not.' : ''}${condition.kind}(${terms})`
}

function write(query: RestQuery, random: Random): URLSearchParams {
  const parameters = new URLSearchParams()
  const { select, conditions, order, limit, offset, columns, onConflict } = query
  if (select) {
    const items = select.map(({ field, alias, cast }) => {
      return `${alias === null ? '' : `${quoted(alias, random)}:`}${writeField(field, random)}${cast === null ? '' : `::${cast}`}`
    })
    parameters.set('select', items.join(','))
  }
  for (const condition of conditions) {
    if (condition.kind === 'filter') {
      parameters.append(writeField(condition.field, random), writeFilter(condition, random, false))
    } else {
      const terms = condition.terms.map((term) => writeTerm(term, random)).join(',')
      parameters.append(`${condition.negated ? 'not.' : ''}${condition.kind}`, `(${terms})`)
    }
  }
  for (const { field, descending, nulls } of order) {
    parameters.append(
      'order',
      `${writeField(field, random)}${descending ? '.desc' : ''}${nulls ? `.nulls${nulls}` : ''}`,
    )
  }
  if (limit !== null) parameters.set('limit', String(limit))
  if (offset > 0) parameters.set('offset', String(offset))
  if (columns) parameters.set('columns', columns.map((c) => quoted(c, random)).join(','))
  if (onConflict) parameters.set('on_conflict', onConflict.map((c) => quoted(c, random)).join(','))
  return parameters
}
