import { afterEach, beforeEach, expect, test } from 'vitest'
import { givePlaces, takePlaces } from '../src/places.mjs'

let places: { readonly path: string; close(): void }
beforeEach(async () => {
  places = await givePlaces(3)
})
afterEach(() => places.close())

/** Takes places and adds the name to a list. */
async function noted(list: string[], name: string, wanted: number, size: number): Promise<() => void> {
  const release = await takePlaces(places.path, wanted, size)
  list.push(name)
  return release
}

test('the largest waiting package comes first, and a smaller one does not pass one that needs more places', async () => {
  const list: string[] = []
  const first = noted(list, 'small', 1, 5)
  const second = noted(list, 'large', 2, 70)
  const third = noted(list, 'other', 2, 60)
  const releaseLarge = await second
  const release = await Promise.race([first, third, new Promise<null>((resolve) => setImmediate(resolve, null))])
  expect([release, list]).toEqual([null, ['large']])
  releaseLarge()
  const releaseOther = await third
  expect(list.slice(0, 2)).toEqual(['large', 'other'])
  releaseOther()
  ;(await first)()
})

test('a package that wants more places than there are has all of them', async () => {
  const release = await takePlaces(places.path, 9, 1)
  const next = takePlaces(places.path, 1, 1)
  let isGiven = false
  void next.then(() => (isGiven = true))
  expect(isGiven).toBe(false)
  release()
  ;(await next)()
  expect(isGiven).toBe(true)
})
