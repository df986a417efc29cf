import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildGreeter } from './example.ts'

test('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const app = buildGreeter({ LOG_LEVEL: 'silent', GREETING: 'Good morning' })
  expect((await app.inject('/greet/Ada')).json()).toEqual({ text: 'Good morning, Ada' })
  const refused = await app.inject(`/greet/${'a'.repeat(21)}`)
  expect(refused.statusCode).toBe(422)
  expect(refused.headers['content-type']).toMatch('application/problem+json')
  expect((await app.inject('/health/live')).statusCode).toBe(200)
  expect(() => buildGreeter({ LOG_LEVEL: 'loud', DRAIN_TIMEOUT_MS: '-1' })).toThrow(/LOG_LEVEL[^]*DRAIN_TIMEOUT_MS/)
})
