import { storageUnavailable, type ObjectStore } from '@terrane/storage'
import { expect, test } from 'vitest'
import { Archives } from './archives.ts'

test('archives that cannot be removed stay and are told, and what has been done without them stands', async () => {
  const away = storageUnavailable({ operation: 'DELETE' })
  const store = { remove: () => Promise.reject(away) } as unknown as ObjectStore
  const left: unknown[] = []
  const archives = new Archives(
    store,
    (project) => `of/${project}`,
    (keys, error) => left.push(keys, error),
  )
  await archives.remove('p', [])
  expect(left).toEqual([])
  await archives.remove('p', ['one', 'two'])
  expect(left).toEqual([['of/p/one', 'of/p/two'], away])
})
