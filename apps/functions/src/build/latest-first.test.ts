import { expect, test } from 'vitest'
import { LatestFirst } from './latest-first.ts'

/** A `LatestFirst` whose work ends when the test says so; `order` lists the work in the order of its start. */
function begun(most: number) {
  const line = new LatestFirst(most)
  const order: string[] = []
  const ends = new Map<string, () => void>()
  const add = (name: string) =>
    line.run(name, () => {
      order.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
  return { line, order, add, end: (name: string) => ends.get(name)!() }
}

test('so many run at once, and the one that was asked for last begins next', async () => {
  const { order, add, end } = begun(2)
  const first = add('a')
  for (const name of ['b', 'c', 'd']) void add(name)
  await Promise.resolve()
  expect(order).toEqual(['a', 'b'])
  end('a')
  await first
  await Promise.resolve()
  expect(order).toEqual(['a', 'b', 'd'])
})

test('hurried work begins at once, and counts for the work that waits', async () => {
  const { line, order, add, end } = begun(1)
  const first = add('a')
  for (const name of ['b', 'c']) void add(name)
  line.hurry('b')
  line.hurry('unknown')
  await Promise.resolve()
  expect(order).toEqual(['a', 'b'])
  end('a')
  await first
  await Promise.resolve()
  expect(order).toEqual(['a', 'b'])
  line.hurryAll()
  await Promise.resolve()
  expect(order).toEqual(['a', 'b', 'c'])
})

test('work that fails gives its turn on', async () => {
  const line = new LatestFirst(1)
  const failing = line.run('a', () => Promise.reject(new Error('broken')))
  const next = line.run('b', () => Promise.resolve('done'))
  await expect(failing).rejects.toThrow('broken')
  await expect(next).resolves.toBe('done')
})
