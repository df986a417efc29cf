import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parquetMetadataAsync } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { expect, onTestFinished, test } from 'vitest'
import { bufferOf, valuesOf } from './parquet.ts'

async function written(content: string | Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-parquet-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'file')
  await writeFile(path, content)
  return path
}

test.each([
  [2, 5, 'cde'],
  [8, undefined, 'ij'],
  [4, 4, ''],
])('bytes from %i to %s of a file of ten are read', async (start, end, bytes) => {
  const buffer = await bufferOf(await written('abcdefghij'))
  expect(Buffer.from(await buffer.slice(start, end)).toString()).toBe(bytes)
})

test.each([
  [-4, 5],
  [8, 11],
  [11, 12],
  [Number.MAX_SAFE_INTEGER + 4, Number.MAX_SAFE_INTEGER + 8],
  [5, -7],
  [0, Number.NaN],
  [Number.NaN, 4],
])('bytes from %i to %s of a file of ten are an error, which nothing has to await', async (start, end) => {
  const buffer = await bufferOf(await written('abcdefghij'))
  const unhandled: unknown[] = []
  const onError = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', onError)
  onTestFinished(() => void process.off('unhandledRejection', onError))
  const bytes = buffer.slice(start, end)
  // Rejections without a handler are events after all promises.
  await setImmediate()
  await setImmediate()
  expect(unhandled).toEqual([])
  await expect(bytes).rejects.toMatchObject({ code: 'CONVERSION_FAILED' })
})

test('a column with fewer values than rows is an error, and no column of nulls', async () => {
  const columns = [{ name: 'id', data: [1, 2, 3], type: 'INT32' as const }]
  const file = await bufferOf(await written(new Uint8Array(parquetWriteBuffer({ columnData: columns }))))
  const metadata = await parquetMetadataAsync(file)
  expect(await valuesOf(file, metadata, ['id'], { start: 1, end: 3 })).toEqual([[2, 3]])
  const chunk = metadata.row_groups[0]!.columns[0]!.meta_data!
  chunk.total_compressed_size = 0n
  await expect(valuesOf(file, metadata, ['id'], { start: 1, end: 3 })).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: expect.stringContaining('column id') as string,
  })
})
