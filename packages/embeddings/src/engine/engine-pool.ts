import { availableParallelism } from 'node:os'
import { availableMemory } from 'node:process'

import type { Model } from '../models/acquire-files.ts'
import { type Engine, type EngineOptions, openEngine } from './engine.ts'
import { chooseMode, modelMemory } from './schedule.ts'

/** The right to use an engine until it is disposed of. */
export interface EngineLease extends Disposable {
  readonly engine: Engine
}

/** Keeps models open from job to job, as many as the memory allows. */
export interface EnginePool extends AsyncDisposable {
  /**
   * The engine of a model, opened when it is not open yet. Unused models are closed, the least recently used first, to
   * make room; models in use stay open even when memory is scarce.
   *
   * @throws MODEL_MISMATCH, and the signal's reason
   */
  lease(model: Model, signal?: AbortSignal): Promise<EngineLease>
  /** Closes all engines; unfinished runs fail. */
  close(): Promise<void>
}

interface Entry {
  readonly opening: Promise<Engine>
  readonly bytes: number
  users: number
}

/** @param options the threads and providers of each engine, and their total memory */
export function createEnginePool(options: Omit<EngineOptions, 'mode'> = {}): EnginePool {
  const { threads = availableParallelism(), memoryBytes = availableMemory() / 2, providers = ['cpu'] } = options
  /** Engines by id and checksum of the model, the least recently used first. */
  const entries = new Map<string, Entry>()

  const makeRoom = async (wanted: number): Promise<void> => {
    let taken = [...entries.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    for (const [key, entry] of entries) {
      if (taken + wanted <= memoryBytes) return
      if (entry.users > 0) continue
      entries.delete(key)
      taken -= entry.bytes
      await closeEntry(entry)
    }
  }
  const open = async (model: Model, bytes: number): Promise<Engine> => {
    await makeRoom(bytes)
    return openEngine(model, { threads, providers, mode: chooseMode(model, threads, memoryBytes) })
  }
  const enter = (model: Model): Entry => {
    const key = `${model.manifest.id} ${model.sha256}`
    let entry = entries.get(key)
    if (!entry) {
      const copies = chooseMode(model, threads, memoryBytes) === 'parallel' ? threads : 1
      const bytes = copies * modelMemory(model)
      entry = { opening: open(model, bytes), bytes, users: 0 }
    }
    const mine = entry
    mine.opening.catch(() => entries.get(key) === mine && entries.delete(key))
    entries.delete(key)
    entries.set(key, mine)
    return mine
  }
  const close = async (): Promise<void> => {
    const all = [...entries.values()]
    entries.clear()
    await Promise.all(all.map(closeEntry))
  }
  return {
    lease: async (model, signal) => {
      signal?.throwIfAborted()
      const entry = enter(model)
      entry.users++
      let held = true
      const release = (): void => {
        if (held) entry.users--
        held = false
      }
      try {
        const engine = await orAbort(entry.opening, signal)
        return { engine, [Symbol.dispose]: release }
      } catch (error) {
        release()
        throw error
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function closeEntry({ opening }: Entry): Promise<void> {
  const engine = await opening.catch(() => null)
  await engine?.close()
}

/** Settles like `work`, or rejects with the signal's reason as soon as it is aborted. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
