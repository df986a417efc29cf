import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { EngineProcess, checkWhole, plainComplaint } from './engine.ts'

test('a process whose output is not read to its end can be abandoned', async () => {
  const script = 'const piece = Buffer.alloc(65536, 120); (function more() { process.stdout.write(piece, more) })()'
  const { signal } = new AbortController()
  const writer = new EngineProcess(process.execPath, ['-e', script], { cwd: tmpdir(), env: {}, events: true }, signal)
  const stdout = writer.child.stdout!
  const first = await stdout[Symbol.asyncIterator]().next()
  expect(first.done).toBe(false)
  // Reads only what the stream buffers; the rest waits in the pipe.
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

test.each([
  'ERROR 1: XML parsing of GML file failed : unclosed token at line 73, column 28',
  'ERROR 1: XML parsing of /vsizip/{/input/data.xlsx}/xl/worksheets/sheet1.xml file failed : no element found',
  'ERROR 1: An error occurred during the parsing of data around byte 654',
])('a source that the engine calls damaged is refused: %s', (message) => {
  expect(() => checkWhole(`Warning 1: other\n${message}\nERROR 1: later`)).toThrow(/could not be read/)
})

test.each([
  'ERROR 1: Formula Parsing Error: syntax error',
  'ERROR 1: XML parsing of styles.xml file failed : not well-formed',
  'Warning 1: GFS file saving asked, but failed',
])('what the engine says of other things refuses no file: %s', (message) => {
  expect(() => checkWhole(message)).not.toThrow()
})

test('damage that is told before many other messages is not forgotten', async () => {
  const script = `process.stderr.write('ERROR 1: XML parsing of GML file failed : no element found\\n')
    for (let i = 0; i < 1000; i++) process.stderr.write('Warning 1: a value was cut to the width of its field\\n')`
  const { signal } = new AbortController()
  const engine = new EngineProcess(process.execPath, ['-e', script], { cwd: tmpdir(), env: {}, events: false }, signal)
  await expect(engine.ended).rejects.toMatchObject({ code: 'CONVERSION_FAILED' })
})

test.each([
  ['an exception', `setTimeout(() => { throw new RangeError('The value of "position" is out of range') })`],
  ['a rejection', `Promise.reject(new TypeError('x is not a function')); setInterval(() => {}, 1000)`],
])('%s that nothing catches is an error without stack, paths and versions', async (_, script) => {
  const { signal } = new AbortController()
  const engine = new EngineProcess(process.execPath, ['-e', script], { cwd: tmpdir(), env: {}, events: false }, signal)
  await expect(engine.ended).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: 'The file could not be read: its reader crashed; the file may be damaged',
  })
})

test.runIf(process.platform !== 'win32')('a process that a signal ends is an error that names the signal', async () => {
  const { signal } = new AbortController()
  const script = `process.stderr.write('Warning 1: other'); process.kill(process.pid, 'SIGSEGV'); setInterval(() => {}, 1000)`
  const engine = new EngineProcess(process.execPath, ['-e', script], { cwd: tmpdir(), env: {}, events: false }, signal)
  await expect(engine.ended).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: 'The file could not be read: its reader was ended by SIGSEGV',
  })
})
