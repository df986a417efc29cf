import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { features } from '@terrane/testing/overture'
import { expect, test } from 'vitest'
import { printPlaces } from './example.ts'
import { RELEASE, serveRelease } from './release-server.ts'

test('the example of the README is the one that runs here, and finds what lies in the area', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const places = features(3000, 'place', 4)
  const { server, catalogue } = await serveRelease(places)
  await using _ = server
  const lines: string[] = []
  const square = [[2, 2], [5, 2], [5, 5], [2, 5], [2, 2]] // prettier-ignore
  await printPlaces(catalogue, { type: 'Polygon', coordinates: [square] }, (line) => lines.push(line))
  const inside = places.filter(({ box: [west, south] }) => west >= 2 && west <= 5 && south >= 2 && south <= 5)
  expect(lines.pop()).toMatch(new RegExp(`^\\d+ requests to release ${RELEASE}$`))
  expect(new Set(lines.map((line) => line.split(' ')[0]))).toEqual(new Set(inside.map(({ id }) => id)))
  expect(lines).toHaveLength(inside.length)
  expect(lines.every((line) => line.endsWith(': point of 25 bytes'))).toBe(true)
})
