import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDraft } from './drafts.ts'

test('drafts are apart, go with what is in them, and take along what a killed router left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-router-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['draft-old', 'draft-new', 'kept-old']) await mkdir(join(folder, name))
  const longAgo = new Date(Date.now() - 2 * 86_400_000)
  for (const name of ['draft-old', 'kept-old']) await utimes(join(folder, name), longAgo, longAgo)
  {
    await using one = await openDraft(folder)
    await using two = await openDraft(folder)
    expect(one.path).not.toBe(two.path)
    await writeFile(join(one.path, 'part'), 'half')
  }
  expect(await readdir(folder)).toEqual(['draft-new', 'kept-old'])
})
