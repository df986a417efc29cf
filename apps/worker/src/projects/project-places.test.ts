import { TerraneError } from '@terrane/core'
import { expect, test } from 'vitest'
import { ProjectPlaces } from './project-places.ts'

test('a project that fills its places leaves some for others, and places come back', () => {
  const places = new ProjectPlaces({
    all: 4,
    ofOne: 2,
    busy: ({ limit, of }) => new TerraneError('BUSY', 'rate_limited', `${limit}${of}`),
  })
  const taken = ['ash', 'ash', 'birch', 'birch'].map((project) => places.take(project))
  expect(() => places.take('ash')).toThrow('2 of one project')
  expect(() => places.take('cedar')).toThrow('4')
  taken[0]![Symbol.dispose]()
  const next = places.take('cedar')
  expect(() => places.take('ash')).toThrow('4')
  next[Symbol.dispose]()
  expect(places.take('ash')).toBeDefined()
})
