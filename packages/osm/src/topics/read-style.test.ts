import { describe, expect, test } from 'vitest'
import { readStyle } from './read-style.ts'
import { STYLE_LIMITS } from './style-limits.ts'

const TABLE = { name: 'roads', geometry: 'linestring', from: ['line'], where: { key: 'highway' }, columns: ['name'] }
const AREAS = { ...TABLE, geometry: 'multipolygon', from: ['area'] }
const column = (more: object) => ({ tables: [{ ...TABLE, columns: ['name', { name: 'x', ...more }] }] })
const texts = (count: number, start: string) => Array.from({ length: count }, (_, i) => `${start}${i}`)
const where = (filter: unknown) => ({ tables: [{ ...TABLE, where: filter }] })
const nested = (depth: number): object => (depth === 0 ? { key: 'a' } : { not: nested(depth - 1) })

function fault(style: unknown): { path: string; message: string; hint: string } {
  try {
    readStyle(style)
  } catch (error) {
    const { code, message, hint, errors } = error as {
      code: string
      message: string
      hint: string
      errors: { path: string }[]
    }
    expect(code).toBe('OSM_STYLE_INVALID')
    return { path: errors[0]!.path.slice('/topics'.length), message, hint }
  }
  throw new Error('the style was accepted')
}

describe('a wrong style is refused with its place and a remedy', () => {
  test.for<[path: string, hint: RegExp, style: unknown]>([
    ['', /tables/, 'roads'],
    ['/table', /tables/, { table: [] }],
    ['/tables', /1 to 64/, {}],
    ['/tables', /1 to 64/, { tables: [] }],
    ['/tables/0/name', /lower-case/, { tables: [{ ...TABLE, name: 'Roads; drop' }] }],
    ['/tables/1/name', /name of its own/, { tables: [TABLE, TABLE] }],
    ['/tables/0/geometry', /multipolygon/, { tables: [{ ...TABLE, geometry: 'polygon' }] }],
    ['/tables/0/from', /1 to 7/, { tables: [{ ...TABLE, from: [] }] }],
    ['/tables/0/from/0', /line, member/, { tables: [{ ...TABLE, from: ['area'] }] }],
    ['/tables/0/from', /only of members/, { tables: [{ ...TABLE, from: ['line', 'member'] }] }],
    ['/tables/0/from/1', /out/, { tables: [{ ...TABLE, from: ['line', 'line'] }] }],
    ['/tables/0/areas', /notAreas/, { tables: [{ ...TABLE, areas: 'all' }] }],
    ['/tables/0/lines', /"line"/, { tables: [{ ...AREAS, lines: 'all' }] }],
    ['/$schema', /URL/, { tables: [TABLE], $schema: 'a\0b' }],
    ['/tables/0/columns/0', /another name/, { tables: [{ ...TABLE, columns: ['ctid'] }] }],
    ['/tables/0/columns/1/default', /Leave/, column({ type: 'oneway', default: 1 })],
    ['/tables/0/columns/1/map', /an object\.$/, column({ map: null })],
    ['/tables/0/generalized/0', /least size/, { tables: [{ ...TABLE, generalized: [{ name: 'b' }] }] }],
    ['/tables/0/areas', /byKey/, { tables: [{ ...AREAS, areas: 'some' }] }],
    ['/tables/0/areas/keys', /key/, { tables: [{ ...AREAS, areas: { keys: 'a' } }] }],
    ['/tables/0/columns', /1 to 100/, { tables: [{ ...TABLE, columns: [] }] }],
    ['/tables/0/columns/1', /name of its own/, { tables: [{ ...TABLE, columns: ['a', 'a'] }] }],
    ['/tables/0/columns/0', /another name/, { tables: [{ ...TABLE, columns: ['osm_id'] }] }],
    ['/tables/0/columns/1/kind', /type/, column({ kind: 'text' })],
    ['/tables/0/columns/1/type', /integer/, column({ type: 'int' })],
    ['/tables/0/columns/1/type', /split/, column({ type: 'json' })],
    ['/tables/0/columns/1/prefix', /one of/, column({ key: 'a', prefix: 'b' })],
    ['/tables/0/columns/1/default', /whole number/, column({ type: 'integer', default: 1.5 })],
    ['/tables/0/columns/1/map/a', /characters/, column({ map: { a: 1 } })],
    ['/tables/0/columns/1/value', /areas/, column({ value: 'area' })],
    ['/tables/0/columns/1/value', /member/, column({ value: 'role' })],
    ['/tables/0/columns/1/type', /Leave it out/, column({ value: 'tags', type: 'json' })],
    ['/tables/0/where', /one of/, where({})],
    ['/tables/0/where', /one of/, where({ key: 'a', has: 'b' })],
    ['/tables/0/where/is', /key/, where({ has: 'a', is: 'b' })],
    ['/tables/0/where/isNot', /all/, where({ key: 'a', is: 'b', isNot: 'c' })],
    ['/tables/0/where/all/1/equals', /isNot/, where({ all: [{ key: 'a' }, { key: 'b', equals: 'c' }] })],
    ['/tables/0/where/key', /255/, where({ key: '' })],
    ['/tables/0/where/is', /at least|1 to/, where({ key: 'a', is: [] })],
    ['/tables/0/where/not/not/not/not/not/not/not/not', /at most 8/, where(nested(8))],
    ['/tables/0/where/any/1000', /at most|Give/, where({ any: Array.from({ length: 1001 }, () => ({ key: 'a' })) })],
    [
      '/tables/0/generalized',
      /filter/,
      { tables: [{ ...TABLE, geometry: 'point', from: ['node'], generalized: [{ name: 'b' }] }] },
    ],
    ['/tables/0/generalized/0/name', /its own/, { tables: [{ ...TABLE, generalized: [{ name: 'roads' }] }] }],
    [
      '/tables/0/generalized/0/minAreaMetres2',
      /Leave/,
      { tables: [{ ...TABLE, generalized: [{ name: 'b', minAreaMetres2: 1 }] }] },
    ],
    [
      '/tables/0/generalized/0/toleranceMetres',
      /positive/,
      { tables: [{ ...TABLE, generalized: [{ name: 'b', toleranceMetres: -1 }] }] },
    ],
  ])('%s', ([path, hint, style]) => {
    const found = fault(style)
    expect([found.path, found.hint]).toEqual([path.replace('/1000', ''), expect.stringMatching(hint)])
    expect(found.message).toContain(found.path === '' ? 'at /' : found.path)
  })

  test('a style has its bounds', () => {
    const many = (count: number, make: (i: number) => object) => Array.from({ length: count }, (_, i) => make(i))
    const tables = (count: number) => ({ tables: many(count, (i) => ({ ...TABLE, name: `t${i}` })) })
    expect(readStyle(tables(STYLE_LIMITS.tables)).tables).toHaveLength(STYLE_LIMITS.tables)
    expect(fault(tables(STYLE_LIMITS.tables + 1)).path).toBe('/tables')
    const generalized = many(STYLE_LIMITS.tables, (i) => ({ name: `g${i}`, toleranceMetres: 1 }))
    expect(fault({ tables: [{ ...TABLE, generalized }] }).path).toBe('/tables')
    const wide = { ...TABLE, columns: texts(100, 'c'), generalized: generalized.slice(0, 9) }
    expect(readStyle({ tables: [wide] }).tables).toHaveLength(1)
    expect(fault({ tables: [wide, { ...TABLE, name: 'other' }] }).message).toContain('1001 columns')
    const values = many(1000, (i) => ({ key: 'a', is: `${i}`.padStart(250, 'x') }))
    expect(fault(where({ any: values })).message).toContain('characters')
    const keys = (from: number) => ({ any: many(900, (i) => ({ has: `k${from + i}` })) })
    expect(fault(where({ all: [keys(0), keys(900), keys(1800)] })).message).toContain('one too many')
    const columns = many(100, (i) => ({
      name: `c${i}`,
      keys: texts(20, `k${i}_`),
    }))
    expect(
      fault({
        tables: [
          { ...TABLE, columns: [...columns.slice(1), 'name'] },
          {
            ...TABLE,
            name: 'b',
            columns: [{ name: 'z', keys: texts(900, 'z') }],
          },
        ],
      }).message,
    ).toContain('keys')
  })

  test('names of members of objects are no keys of a map', () => {
    expect(fault(JSON.parse('{"tables": [], "__proto__": 1}')).path).toBe('/__proto__')
    expect(fault({ tables: [{ ...TABLE, geometry: 'toString' }] }).path).toBe('/tables/0/geometry')
  })
})
