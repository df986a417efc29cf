import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@terrane/service'
import { expect, test } from 'vitest'
import { preparePage } from './prepare-page.ts'

const logger = createLogger({ name: 'test', level: 'silent' })

test('a page that is named is served as it is, and one that is not there is said', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-page-'))
  await expect(preparePage(folder, logger)).rejects.toMatchObject({ code: 'PAGE_MISSING' })
  await writeFile(join(folder, 'index.html'), '')
  expect(await preparePage(folder, logger)).toBe(folder)
  await rm(folder, { recursive: true })
})
