import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { boundChild } from '../src/bound-child.ts'
import { readerProcesses, startReaderProcess } from '../src/read/reader-process.ts'
import { Reading, SpareReader } from '../src/read/reading.ts'

/** Whether {@link boundChild} can bind a program to the life of this process. */
const canBind = spawnSync('setpriv --pdeathsig KILL true', { shell: true }).status === 0
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
    await expect(opening).rejects.toMatchObject({
      code: 'CONVERSION_FAILED',
      message: 'The file could not be read: reading it failed with ENOENT',
    })
  })

  test.runIf(process.platform === 'linux')('of a small file that holds half a gigabyte is ended', async () => {
    const program = join(workdir, 'large.mjs')
    await writeFile(program, 'const held = Buffer.alloc(600 << 20, 1); setInterval(() => held[0]++, 1000)')
    const reader = readerProcesses({ program: pathToFileURL(program) })(workdir, new AbortController().signal)
    reader.expect(100)
    await expect(reader.ended).rejects.toMatchObject({
      code: 'FILE_TOO_COSTLY',
      message: expect.stringContaining('memory') as string,
    })
  })

  test.runIf(!canBind)('SKIPPED: setpriv of util-linux is not installed; it ends a process with its parent', () => {
    expect(canBind).toBe(false)
  })

  test.runIf(canBind)('that computes without an end ends with its parent, however that ends', async () => {
    const program = join(workdir, 'busy.mjs')
    await writeFile(program, 'for (;;);')
    const script = `
      import { readerProcesses } from ${JSON.stringify(new URL('../src/read/reader-process.ts', import.meta.url).href)}
      const start = readerProcesses({ program: new URL(${JSON.stringify(pathToFileURL(program).href)}) })
      start(${JSON.stringify(workdir)}, new AbortController().signal)
      setInterval(() => {}, 1000)
    `
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
    const busy = async () => (await runningWith(program)).filter((pid) => pid !== parent.pid)
    await expect.poll(busy, { timeout: 30_000 }).toHaveLength(1)
    const [pid] = await busy()
    // The process is the program itself, without a shell.
    await expect.poll(() => readFile(`/proc/${pid}/cmdline`, 'utf8')).toContain('--permission')
    parent.kill('SIGKILL')
    await expect.poll(busy, { timeout: 30_000 }).toEqual([])
  })
})

describe.runIf(process.platform !== 'win32')('a program that is bound to this process', () => {
  const run = promisify(execFile)
  const say = ['-e', 'console.log(process.argv.slice(1).join("|"))', '--', 'a b', `$HOME"'`, '']
  const path = async (setpriv: string | null) => {
    const folder = await mkdtemp(join(tmpdir(), 'terrane-path-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    if (setpriv !== null) await writeFile(join(folder, 'setpriv'), setpriv, { mode: 0o755 })
    return folder
  }

  test.each([
    ['is missing', null],
    ['knows no --pdeathsig, as that of busybox', '#!/bin/sh\necho "setpriv: unrecognized option" >&2\nexit 1\n'],
  ])('runs with its arguments where setpriv %s', async (_, setpriv) => {
    for (const mostMb of [undefined, 4096]) {
      const [command, args] = boundChild(process.execPath, say, mostMb)
      const { stdout, stderr } = await run(command, args, { env: { PATH: await path(setpriv) } })
      expect([stdout, stderr]).toEqual([`a b|$HOME"'|\n`, ''])
    }
  })

  test('a program that is not there fails', async () => {
    const [command, args] = boundChild('/none/ogr2ogr', [])
    await expect(run(command, args)).rejects.toMatchObject({ code: 127 })
  })
})

/** Processes that have a text as an argument. */
async function runningWith(argument: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
      return words.includes(argument) && words[0] === process.execPath ? Number(pid) : null
    }),
  )
  return found.filter((pid) => pid !== null)
}
