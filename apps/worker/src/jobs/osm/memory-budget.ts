import { getHeapStatistics } from 'node:v8'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { spillBytes, type NodeLimits, type OsmReader } from '@terrane/osm'
import { scratchIn } from '@terrane/tiling/vector'
import { diskFull } from '../../errors.ts'
import { tooManyNodes } from './errors.ts'
import type { OsmImportSettings } from './settings.ts'

/** Memory that a job may use to read a file; plain data, so that it can be sent to a thread. */
export interface OsmMemoryBudget {
  readonly maxNodes: number
  /** Estimate from the file's blobs; 0 when they give none. */
  readonly expectedNodes: number
  readonly memoryBytes: number
  /** Folder for data that does not fit into memory. */
  readonly folder: string
}

/** Share of the free memory that one job may use. */
const MEMORY_SHARE = 0.5

/**
 * Plans the memory and disk space for a file before anything is written.
 *
 * @param folder the job's own, within the work folder
 * @throws OSM_TOO_LARGE beyond the operator's limit, DISK_FULL when the data beyond the memory does not fit on the disk
 */
export async function memoryBudget(
  reader: OsmReader,
  { maxNodes, memoryBytes: set }: OsmImportSettings,
  folder: string,
  signal: AbortSignal,
): Promise<OsmMemoryBudget> {
  const nodes = (await reader.estimateNodes(signal)) ?? 0
  if (nodes > maxNodes) throw tooManyNodes({ nodes, limit: maxNodes })
  const memoryBytes = set ?? Math.floor(process.availableMemory() * MEMORY_SHARE)
  const neededBytes = spillBytes(nodes, memoryBytes)
  const { bavail, bsize } = await statfs(folder)
  if (neededBytes > bavail * bsize) {
    const hint =
      `About ${nodes} nodes do not fit into ${Math.floor(memoryBytes / 1e6)} MB of memory. Take a smaller extract, or let the ` +
      `operator make room in TERRANE_WORK_DIR or raise TERRANE_OSM_MEMORY_MB.`
    throw diskFull({ folder: dirname(folder), neededBytes, freeBytes: bavail * bsize }, { hint })
  }
  return { maxNodes, expectedNodes: nodes, memoryBytes, folder }
}

/** Maximum memory for the elements of a change file: at most half of the heap; their other data needs the rest. */
export function changesBudget({ memoryBytes: set }: Pick<OsmImportSettings, 'memoryBytes'>): number {
  const memoryBytes = set ?? Math.floor(process.availableMemory() * MEMORY_SHARE)
  return Math.min(memoryBytes, getHeapStatistics().heap_size_limit / 2)
}

/** The budget in the form of the reader's options. */
export function limitsOf({ maxNodes, expectedNodes, memoryBytes, folder }: OsmMemoryBudget): NodeLimits {
  return { maxNodes, expectedNodes, spill: { memoryBytes, openScratch: scratchIn(folder) } }
}
