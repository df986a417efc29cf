import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { mkdir, open, readFile, readdir, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { number, record, text } from './checks.ts'

export interface LockOptions {
  readonly signal?: AbortSignal | undefined
  /** Called once when the lock is held by another process. */
  readonly onWait?: (() => void) | undefined
  readonly pollMs?: number | undefined
  /** Time without a renewal after which a holder counts as dead. */
  readonly staleMs?: number | undefined
}

/** Content of a lock file. */
interface Holder {
  readonly machine: string
  readonly pid: number
}

const isHolder = record<Holder>({ machine: text(), pid: number(1, 2 ** 31, true) })

const RELEASED = 'released'

/**
 * Runs `body` under an exclusive lock by name, across all processes and machines that share the directory. Survives
 * crashes: a lock becomes free at once when its process on this machine has ended, else when it is not renewed for
 * `staleMs`.
 *
 * A lock is a sequence of files `<name>.<generation>`. A process takes it by creating the next generation exclusively.
 * Generations only grow, so a slow process cannot take a lock that was taken and released meanwhile.
 */
export async function withLock<T>(
  directory: string,
  name: string,
  options: LockOptions,
  body: () => Promise<T>,
): Promise<T> {
  await mkdir(directory, { recursive: true })
  const path = await takeLock(directory, name, options)
  const renewal = setInterval(() => void renew(path), (options.staleMs ?? 15_000) / 10)
  renewal.unref()
  try {
    return await body()
  } finally {
    clearInterval(renewal)
    await release(path)
  }
}

async function takeLock(directory: string, name: string, options: LockOptions): Promise<string> {
  const { signal, pollMs = 100, staleMs = 15_000 } = options
  const me: Holder = { machine: machineId(), pid: process.pid }
  let seen = { sign: '', since: 0 }
  let waiting = false
  for (;;) {
    signal?.throwIfAborted()
    const generation = await lastGeneration(directory, name)
    const sign = await lifeSign(fileOf(directory, name, generation), me)
    if (sign !== seen.sign) seen = { sign, since: performance.now() }
    if (sign === RELEASED || performance.now() - seen.since > staleMs) {
      const path = fileOf(directory, name, generation + 1)
      if (await create(path, me)) {
        await unlink(fileOf(directory, name, generation)).catch(ignoreMissing)
        return path
      }
      continue
    }
    if (!waiting) options.onWait?.()
    waiting = true
    await sleep(pollMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted())
  }
}

/** `RELEASED` when the lock is free, otherwise a text that changes whenever the holder renews its lock. */
async function lifeSign(path: string, me: Holder): Promise<string> {
  try {
    const [content, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    if (content === RELEASED) return RELEASED
    const sign = `${path} ${mtimeMs}`
    const holder = content === '' ? null : parseHolder(content) // empty: created, not yet written
    return holder?.machine === me.machine && !isAlive(holder.pid) ? RELEASED : sign
  } catch (error) {
    ignoreMissing(error)
    return RELEASED
  }
}

function parseHolder(content: string): Holder | null {
  const value: unknown = JSON.parse(content)
  return isHolder(value, '', []) ? value : null
}

async function create(path: string, holder: Holder): Promise<boolean> {
  try {
    await using file = await open(path, 'wx')
    await file.writeFile(JSON.stringify(holder))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function renew(path: string): Promise<void> {
  const now = new Date()
  await utimes(path, now, now).catch(ignoreMissing)
}

/** Keeps the generation's file, so that its number stays taken. */
async function release(path: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`
  await writeFile(temporary, RELEASED)
  await rename(temporary, path)
}

async function lastGeneration(directory: string, name: string): Promise<number> {
  let last = 0
  for (const file of await readdir(directory)) {
    const generation = file.startsWith(`${name}.`) ? file.slice(name.length + 1) : ''
    if (/^\d+$/.test(generation)) last = Math.max(last, Number(generation))
  }
  return last
}

function fileOf(directory: string, name: string, generation: number): string {
  return join(directory, `${name}.${generation}`)
}

/** Identifies a machine or container, even with equal host names: process ids are valid only within one. */
function machineId(): string {
  let namespace = ''
  try {
    namespace = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux has process namespaces.
  }
  return `${hostname()} ${namespace}`
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
