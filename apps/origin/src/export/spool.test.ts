import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { spooled } from './spool.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-test-'))
  vi.stubEnv('TMPDIR', folder)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

test('a file has no name any more when it is open', async () => {
  await using file = await spooled(10, (path) => writeFile(path, 'whole'))
  expect(await readdir(folder)).toEqual([])
  expect(await file.readFile('utf8')).toBe('whole')
})

test('a disk without room is refused before the first byte, with what is free and what is needed', async () => {
  const write = vi.fn<() => Promise<void>>()
  await expect(spooled(10, write, Infinity)).rejects.toMatchObject({ code: 'EXPORT_NO_ROOM', status: 507 })
  expect(write).not.toHaveBeenCalled()
  expect(await readdir(folder)).toEqual([])
})

test('a disk that is full in the middle is the same, and leaves nothing', async () => {
  for (const full of [{ code: 'ENOSPC' }, { code: 'EDQUOT' }, { errcode: 13 }]) {
    const failing = spooled(10, async (path) => {
      await writeFile(path, 'half')
      throw Object.assign(new Error('full'), full)
    })
    await expect(failing).rejects.toMatchObject({ code: 'EXPORT_NO_ROOM' })
  }
  await expect(spooled(10, () => Promise.reject(new Error('other')))).rejects.toThrow('other')
  expect(await readdir(folder)).toEqual([])
})

test('one that grows beyond its bound is refused between two batches', async () => {
  const batches = (async function* () {
    for (const text of ['four', 'more', 'even more']) yield text
  })()
  const written: string[] = []
  const growing = spooled(7, async (path, bounded) => {
    for await (const text of bounded(batches)) {
      written.push(text)
      await writeFile(path, text, { flag: 'a' })
    }
  })
  await expect(growing).rejects.toMatchObject({ code: 'EXPORT_TOO_LARGE', status: 413 })
  expect(written).toEqual(['four', 'more'])
  expect(await readdir(folder)).toEqual([])
})
