import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startReaderProcess } from '../src/read/reader-process.ts'
import { Reading, SpareReader } from '../src/read/reading.ts'

describe('a reading process', () => {
  let workdir: string
  beforeAll(async () => {
    workdir = await mkdtemp(join(tmpdir(), 'terrane-reading-'))
  })
  afterAll(() => rm(workdir, { recursive: true }))

  test('that is not needed ends with its job', async () => {
    const reader = startReaderProcess(workdir, new AbortController().signal)
    {
      await using _spare = new SpareReader(reader)
    }
    await expect(reader.ended).rejects.toMatchObject({ code: 'CONVERSION_FAILED' })
  })

  test('ends when its job is cancelled, with the reason of the job', async () => {
    const cancelled = new AbortController()
    const reader = startReaderProcess(workdir, cancelled.signal)
    const reason = new Error('the job was cancelled')
    cancelled.abort(reason)
    await expect(reader.ended).rejects.toBe(reason)
  })

  test('that is told to read what is not there says so', async () => {
    const place = { workdir, signal: new AbortController().signal, startReader: startReaderProcess }
    const opening = Reading.open({ path: join(workdir, 'none'), format: 'GeoJSON' }, place)
    await expect(opening).rejects.toMatchObject({ code: 'CONVERSION_FAILED' })
  })
})
