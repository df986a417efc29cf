import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chunksOf, twice } from './chunks.ts'

test.each([
  ['kept', { fileBytes: 5, heapBytes: Infinity }, [true]],
  ['read again where the file is large', { fileBytes: 4, heapBytes: Infinity }, [true, false]],
  ['read again where it takes much memory', { fileBytes: 5, heapBytes: 0 }, [true, false]],
])('what a file holds is the same the second time, %s', async (_, most, expected) => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-chunks-'))
  const path = join(folder, 'a.txt')
  await writeFile(path, 'a b c')
  const readings: boolean[] = []
  const words = twice(
    [path],
    (isFirst) => {
      readings.push(isFirst)
      return Buffer.concat([...chunksOf(path)])
        .toString()
        .split(' ')
    },
    most,
  )
  words.first()
  expect([...words.again()]).toEqual(['a', 'b', 'c'])
  expect(readings).toEqual(expected)
  await rm(folder, { recursive: true })
})
