import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sniffFile } from './sniff.ts'

test('an extract of OpenStreetMap as PBF is refused with the name of the task that takes it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-sniff-'))
  try {
    const path = join(folder, 'extract')
    await writeFile(path, Buffer.from('\0\0\0\u000e\n\tOSMHeader\u0018\u0065', 'latin1'))
    await expect(sniffFile(path)).rejects.toMatchObject({
      code: 'FORMAT_UNKNOWN',
      message: expect.stringContaining('osmImportArea') as string,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
