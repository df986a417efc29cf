import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { findHeaderLines } from './header-lines.ts'

const table = (text: string) => {
  const [names = [], ...rows] = text.split('\n').map((line) => line.split(','))
  return findHeaderLines(names, rows)
}

test.each([
  ['units', 'place,height,width\n,m,m\nA,1,2\nB,3,4', 1, ['height', 'width']],
  ['a unit in brackets', 'place,height\nname,[m]\nA,1\nB,3', 1, ['height']],
  ['names below groups', ',2019,,2020,\nplace,men,women,men,women\nA,1,2,3,4\nB,5,6,7,8', 1, ['2019', '', '2020', '']],
  ['two lines', 'a,b,c\nname,men,women\n,%,%\nA,1,2\nB,3,4', 2, ['b', 'c']],
  ['years below a group', 'place,People,,\n,2019,2020,2021\nA,10,20,30\nB,40,50,60', 1, ['', '']],
  ['dates', 'station,from,to\n,date,date\nA,2024-01-01,2024-02-01\nB,2024-01-02,2024-02-02', 1, ['from', 'to']],
])('further lines of a header are found: %s', (_, text, lines, columns) => {
  expect(table(text)).toEqual({ lines, columns })
})

test.each([
  ['numbers from the first row on', 'place,height\nA,1\nB,2\nC,3'],
  ['texts alone', 'name,town\nA,Rome\nB,Oslo\nC,Bern'],
  ['a first row without values', 'name,height,width\nA,n/a,unknown\nB,1,2\nC,3,4'],
  ['a first row without values in German', 'name,height,width\nA,k. A.,keine Angabe\nB,1,2\nC,3,4'],
  ['a first row without values in French', 'name,height,width\nA,inconnu,n.c.\nB,1,2\nC,3,4'],
  ['a first row with one text among numbers below', 'name,height\nA,closed\nB,1\nC,2'],
  ['an empty first row', 'name,height\n,\nB,1\nC,2'],
  ['no row below', 'name,height,width\nplace,m,m'],
  ['texts among the values', 'name,height,width\nA,low,wide\nB,1,2\nC,high,3\nD,4,narrow'],
])('data is no header: %s', (_, text) => {
  expect(table(text)).toBeNull()
})

test('drawn tables are honest as they are, and are found with one to three lines of units below their names', () => {
  const random = seededRandom(36)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(from: readonly T[]) => from[below(from.length)]!
  const kinds: readonly (() => string)[] = [
    () => String(below(1000)),
    () => (random() * 100).toFixed(2),
    () => `2024-0${1 + below(9)}-1${below(9)}`,
    () => pick(['', 'n/a', '-', String(below(9))]),
    () => pick(['Rome', 'Oslo', 'New Town', '', 'x']),
  ]
  for (let n = 0; n < 2000; n++) {
    const columns = [kinds[0]!, kinds[1]!, ...Array.from({ length: below(6) }, () => pick(kinds))]
    const names = columns.map((_, i) => `column ${i}`)
    const rows = Array.from({ length: 3 + below(20) }, () => columns.map((make) => make()))
    expect(findHeaderLines(names, rows), JSON.stringify([names, ...rows])).toBeNull()
    const unknown = columns.map(() => pick(['', '-', 'n/a', 'NA', 'unknown', '..', '*']))
    expect(findHeaderLines(names, [unknown, ...rows]), JSON.stringify([unknown, ...rows])).toBeNull()
    const lines = Array.from({ length: 1 + below(3) }, () =>
      columns.map(() => pick(['m', 'kg', '%', 'total', 'in km²'])),
    )
    expect(findHeaderLines(names, [...lines, ...rows])).toMatchObject({ lines: lines.length })
  }
})
