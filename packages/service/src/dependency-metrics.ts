import { statfs } from 'node:fs/promises'
import { Gauge, Histogram, onScrape, type Registry } from './metrics.ts'

/** Connections of a pool now. */
export interface PoolState {
  readonly used: number
  readonly idle: number
  /** Callers that wait for one. */
  readonly waiting: number
}

/** Shows the connections of the app's own pool. */
export function showPool(registry: Registry, state: () => PoolState): void {
  const connections = new Gauge({
    name: 'terrane_database_connections',
    help: 'Connections of the pool, and callers that wait for one.',
    labelNames: ['state'],
    registers: [registry],
  })
  onScrape(connections, () => {
    for (const [name, count] of Object.entries(state())) connections.set({ state: name }, count)
  })
}

/** Metrics of storage calls; returns the observer of a call. */
export function showStorageCalls(
  registry: Registry,
): (call: { readonly operation: string; readonly seconds: number; readonly failure: unknown }) => void {
  const duration = new Histogram({
    name: 'terrane_storage_seconds',
    help: 'Duration of calls of the storage.',
    labelNames: ['operation', 'outcome'],
    buckets: [0.01, 0.05, 0.25, 1, 5, 30, 300],
    registers: [registry],
  })
  return ({ operation, seconds, failure }) =>
    duration.observe({ operation, outcome: failure === null ? 'ok' : 'failed' }, seconds)
}

/** Shows the free space of the file systems of folders, labelled by purpose. Missing folders are left out. */
export function showDisks(registry: Registry, folders: Readonly<Record<string, string>>): void {
  const free = new Gauge({
    name: 'terrane_disk_free_bytes',
    help: 'Free disk space for the files of a folder.',
    labelNames: ['folder'],
    registers: [registry],
  })
  const size = new Gauge({
    name: 'terrane_disk_size_bytes',
    help: 'Size of the file system of a folder.',
    labelNames: ['folder'],
    registers: [registry],
  })
  onScrape(free, async () => {
    for (const [folder, path] of Object.entries(folders)) {
      const disk = await statfs(path).catch(() => null)
      if (!disk) continue
      free.set({ folder }, disk.bavail * disk.bsize)
      size.set({ folder }, disk.blocks * disk.bsize)
    }
  })
}
