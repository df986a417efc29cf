import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Conversion, EngineProcess } from './engine.ts'
import { outputTooLarge, readerStuck } from './errors.ts'
import { ProcessWatch } from './read/process-watch.ts'

/**
 * CPU seconds without growth of the result after which a conversion counts as stuck, and bytes of source that allow a
 * second more: GDAL scans some formats completely before it writes.
 */
const STUCK_SECONDS = 60
const BYTES_PER_SECOND = 512 * 1024
/**
 * Maximum size of a result as a multiple of its source, and the size that is always allowed: recursive blocks of
 * drawings grow without limit.
 */
const MOST_GROWTH = 200
const ALWAYS_ALLOWED_BYTES = 2 ** 30
const LOOK_MS = 1000

/** Bounds of a conversion, for tests. */
export interface EngineBounds {
  readonly stuckSeconds?: number
  readonly mostBytes?: number
}

/**
 * Ends an engine with FILE_TOO_COSTLY when it computes while its result does not grow, or when the result exceeds its
 * maximum size.
 *
 * @param conversion folder of the source and path of the result
 */
export async function watchEngine(
  engine: EngineProcess,
  { folder, target }: Pick<Conversion, 'folder' | 'target'>,
  bounds: EngineBounds = {},
): Promise<void> {
  const { pid } = engine.child
  if (pid === undefined) return
  using watch = new ProcessWatch(pid, { seconds: bounds.stuckSeconds ?? STUCK_SECONDS }, (_, seconds) =>
    engine.end(readerStuck({ seconds })),
  )
  const source = await bytesIn(folder)
  watch.allow({ seconds: source / BYTES_PER_SECOND })
  const most = bounds.mostBytes ?? Math.max(ALWAYS_ALLOWED_BYTES, MOST_GROWTH * source)
  let size = 0
  const timer = setInterval(() => void look(), LOOK_MS)
  try {
    await engine.ended
  } finally {
    clearInterval(timer)
  }

  async function look(): Promise<void> {
    const found = await sizeOf(target)
    if (found > most) engine.end(outputTooLarge({ most }))
    if (found !== size) watch.progressed()
    size = found
  }
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  // The engine may have removed its temporary files by now.
  const sizes = await Promise.all(files.map(({ parentPath, name }) => sizeOf(join(parentPath, name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}
