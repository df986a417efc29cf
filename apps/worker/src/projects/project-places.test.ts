import { TerraneError } from '@terrane/core'
import { expect, test } from 'vitest'
import { ProjectPlaces } from './project-places.ts'

const busy = ({ limit, of }: { limit: number; of: string }) => new TerraneError('BUSY', 'rate_limited', `${limit}${of}`)
/** Lets callbacks of settled promises run. */
const settle = () => new Promise(setImmediate)

test('a project that fills its places leaves some for others, and places come back', async () => {
  const places = new ProjectPlaces({ all: 4, ofOne: 2, waitMs: 0, busy })
  const taken = await Promise.all(['ash', 'ash', 'birch', 'birch'].map((project) => places.take(project)))
  await expect(places.take('ash')).rejects.toThrow('2 of one project')
  await expect(places.take('cedar')).rejects.toThrow('4')
  taken[0]![Symbol.dispose]()
  const next = await places.take('cedar')
  await expect(places.take('ash')).rejects.toThrow('4')
  next[Symbol.dispose]()
  expect(await places.take('ash')).toBeDefined()
})

test('a project waits for a taken place, and goes before one that comes again', async () => {
  const places = new ProjectPlaces({ all: 2, ofOne: 1, waitMs: 3_600_000, busy })
  const order: string[] = []
  const enter = async (project: string) => {
    const place = await places.take(project)
    order.push(project)
    return place
  }
  const [ash, birch] = [await enter('ash'), await enter('birch')]
  const cedar = enter('cedar')
  await expect(places.take('cedar')).rejects.toThrow('1 of one project')
  ash[Symbol.dispose]()
  const again = enter('ash')
  await settle()
  expect(order).toEqual(['ash', 'birch', 'cedar'])
  birch[Symbol.dispose]()
  ;(await cedar)[Symbol.dispose]()
  ;(await again)[Symbol.dispose]()
  expect(order).toEqual(['ash', 'birch', 'cedar', 'ash'])
})

test('a request that leaves the line gives up no place of another', async () => {
  const places = new ProjectPlaces({ all: 1, ofOne: 1, waitMs: 3_600_000, busy })
  const ash = await places.take('ash')
  const left = new AbortController()
  const birch = places.take('birch', left.signal)
  const cedar = places.take('cedar')
  left.abort(new Error('left'))
  await expect(birch).rejects.toThrow('left')
  ash[Symbol.dispose]()
  ;(await cedar)[Symbol.dispose]()
  expect(await places.take('birch')).toBeDefined()
})
