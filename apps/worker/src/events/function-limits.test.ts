import { expect, test } from 'vitest'
import { FunctionLimits } from './function-limits.ts'

test('calls at one time have the default limit while the database does not answer, and the next one the limit of the function', async () => {
  const answers: { rows: { ms: number }[] }[] = []
  const query = async () => {
    const answer = answers.shift()
    if (!answer) throw new Error('the database is away')
    return answer
  }
  const limits = new FunctionLimits({ query } as never)
  expect(await Promise.all([limits.waitMs('p', 'f'), limits.waitMs('p', 'f')])).toEqual([405_000, 405_000])
  for (const ms of [1000, 60_000]) {
    answers.push({ rows: [{ ms }] })
    expect(await limits.waitMs('p', 'f')).toBe(ms + 5000)
  }
})
