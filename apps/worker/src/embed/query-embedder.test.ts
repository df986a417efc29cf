import { expect, test } from 'vitest'
import { QueryEmbedder, type QueryProject } from './query-embedder.ts'

test('a project that fills its places leaves some for others, and the places come back', async () => {
  const queries = new QueryEmbedder({} as never)
  const { promise: answer, reject } = Promise.withResolvers<never>()
  const database = { query: () => answer, session: () => answer, transaction: () => answer } as never
  const ask = (key: string) => queries.text({ key, database } satisfies QueryProject, { tableName: 't', text: 'red' })
  const taken = ['ash', 'ash', 'birch', 'birch'].map(ask)
  for (const key of ['ash', 'birch', 'cedar']) await expect(ask(key)).rejects.toMatchObject({ code: 'QUERIES_BUSY' })
  reject(new Error('no table'))
  for (const one of taken) await expect(one).rejects.toThrow('no table')
  await expect(ask('cedar')).rejects.toThrow('no table')
})
