import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { EngineProcess, plainComplaint } from './engine.ts'

test('a process whose output is not read to its end can be abandoned', async () => {
  const script = 'const piece = Buffer.alloc(65536, 120); (function more() { process.stdout.write(piece, more) })()'
  const { signal } = new AbortController()
  const writer = new EngineProcess(process.execPath, ['-e', script], { cwd: tmpdir(), env: {}, events: true }, signal)
  const stdout = writer.child.stdout!
  const first = await stdout[Symbol.asyncIterator]().next()
  expect(first.done).toBe(false)
  // As much as the stream holds and no more: the rest waits in the pipe.
  await expect.poll(() => stdout.readableLength).toBeGreaterThanOrEqual(stdout.readableHighWaterMark)
  await writer.abandon()
  expect(writer.child.signalCode).toBe('SIGKILL')
})

test('a complaint is told once, without places in the sources of the engine', () => {
  const messages = [
    'ERROR 1: /home/someone/src/gdal/ogr/drawing.cpp, 832: error at line 1124 of /input/data.dxf',
    "ERROR 4: `/input/data.dxf' not recognized as a supported file format.",
    "`/input/data.dxf' not recognized as a supported file format.",
    'ERROR 1: In file /home/someone/src/gdal/port/cpl_zip.cpp, at line 977, decompression failed',
  ]
  expect(plainComplaint(messages.join('\n'))).toBe(
    "error at line 1124 of /input/data.dxf; `/input/data.dxf' not recognized as a supported file format.",
  )
})
