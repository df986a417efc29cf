import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromArrays, tableToIPC } from 'apache-arrow'
import { expect, onTestFinished, test } from 'vitest'
import { openArrow } from './arrow.ts'

/** Bytes before the metadata of a message: its mark and its length. */
const HEAD_BYTES = 8

test('a message whose length leads back to its begin is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-arrow-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'back.arrow')
  const bytes = Buffer.from(tableToIPC(tableFromArrays({ n: Int32Array.of(1, 2, 3) }), 'stream'))
  const second = HEAD_BYTES + bytes.readInt32LE(4)
  bytes.writeInt32LE(-HEAD_BYTES, second + 4)
  await writeFile(path, bytes)
  await expect(openArrow({ path })).rejects.toMatchObject({ code: 'CONVERSION_FAILED' })
})
