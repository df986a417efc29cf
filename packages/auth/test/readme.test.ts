import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { trustProject } from './example.ts'

test('the example of the README is the one that runs here', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(readFileSync(join(import.meta.dirname, 'example.ts'), 'utf8'))
  const { token, whoIs } = await trustProject('local', 'a secret of at least 32 characters', 'ada')
  const other = await trustProject('other', 'a secret of at least 32 characters', 'ada')
  expect(await whoIs({ authorization: `Bearer ${token}` })).toMatchObject({ role: 'authenticated', subject: 'ada' })
  expect(await whoIs({})).toBeNull()
  await expect(other.whoIs({ apikey: token })).rejects.toThrow('belongs to another project')
})
