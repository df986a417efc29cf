import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { jsonObjects } from './json-objects.ts'

/** The objects of a text that comes in pieces of random lengths. */
function objectsOf(text: string, random: () => number, longest: number): [string, boolean][] {
  const bytes = Buffer.from(text)
  function* pieces() {
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + Math.floor(random() * longest)
      yield bytes.subarray(at, end)
      at = end
    }
  }
  const found: [string, boolean][] = []
  for (const { bytes: object, isMember } of jsonObjects(pieces(), 'features')) {
    found.push([JSON.stringify(JSON.parse(object.toString())), isMember])
  }
  return found
}

const MEMBERS = [{ a: '}],{"\\', features: [{ deep: 1 }] }, { b: ['x', { c: 'ä😀' }] }, {}]

test('members of the list come one by one, wherever the pieces end', () => {
  const random = seededRandom(3)
  const text = ` {"type": "FeatureCollection", "name": "features", "features" : [${MEMBERS.map((m) => JSON.stringify(m)).join(' ,\n')}], "last": {"z": [1]}}\n`
  const head = JSON.stringify({ type: 'FeatureCollection', name: 'features', features: [], last: { z: [1] } })
  for (let round = 0; round < 60; round++) {
    expect(objectsOf(text, random, 1 + round)).toEqual([
      ...MEMBERS.map((member) => [JSON.stringify(member), true]),
      [head, false],
    ])
  }
})

test('objects in a row come as they are, with separators of sequences between them', () => {
  const random = seededRandom(4)
  const text = MEMBERS.map((member) => `\u001e${JSON.stringify(member)}\n`).join('')
  // A list under the key is one of members in each of them.
  const wanted = [
    ['{"deep":1}', true],
    [JSON.stringify({ a: '}],{"\\', features: [] }), false],
    ...MEMBERS.slice(1).map((member) => [JSON.stringify(member), false]),
  ]
  for (let round = 0; round < 30; round++) expect(objectsOf(text, random, 1 + round)).toEqual(wanted)
})

test.each(['{"a": "b', '{"features": [{}', '{"a": 1}]', '{"a": 1} x {"b": 2}'])('%s is refused', (text) => {
  expect(() => objectsOf(text, seededRandom(1), 4)).toThrow(expect.objectContaining({ code: 'CONVERSION_FAILED' }))
})

test('an object of very many levels is refused before it is read', () => {
  const nested = (levels: number) => `{"features":[{"a":${'['.repeat(levels)}${']'.repeat(levels)}}]}`
  const random = seededRandom(1)
  expect(objectsOf(nested(900), random, 5000)).toHaveLength(2)
  expect(() => objectsOf(nested(1100), random, 5000)).toThrow(
    expect.objectContaining({ code: 'CONVERSION_FAILED', message: expect.stringContaining('1000 levels') }),
  )
})
