import { afterEach, expect, test, vi } from 'vitest'
import type { Command } from '../runtime/runtime.ts'
import { RuntimeProcess } from './runtime-process.ts'

const command = (file: string, ...args: string[]): Command => ({
  file,
  args,
  env: {},
  cwd: '/',
  bundle: '',
  ingress: '',
  gateway: '',
  sockets: '',
  tmp: '',
  keeper: null,
})
const ends = (process: RuntimeProcess) =>
  new Promise<unknown[]>((resolve) => process.attach({ message() {}, line() {}, gone: (...end) => resolve(end) }))

afterEach(() => {
  vi.restoreAllMocks()
})

test('a receiver that comes after the end hears of it', async () => {
  const failed = new RuntimeProcess(command('/bin/sh', '-c', 'exit 3'))
  await failed.closed
  expect(await ends(failed)).toEqual([3, null, ''])
})

test('a process that cannot be started has ended, and says why', async () => {
  const missing = new RuntimeProcess(command('/does/not/exist'))
  await missing.closed
  expect(missing.isRunning).toBe(false)
  expect(await ends(missing)).toEqual([null, null, expect.stringContaining('ENOENT')])
})

test('ending a process that has ended, or never started, signals no other one', async () => {
  const processes = [new RuntimeProcess(command('/does/not/exist')), new RuntimeProcess(command('/bin/true'))]
  await Promise.all(processes.map(({ closed }) => closed))
  const signal = vi.spyOn(process, 'kill').mockReturnValue(true)
  for (const ended of processes) ended.kill()
  expect(signal).not.toHaveBeenCalled()
})
