import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { OutputState } from '../embeddings/embedding-output.ts'

/** How far a run has come: all tiles before `tiles` are in the staging table, or were skipped. */
export interface TilesDone {
  /** What the tiles were made of: {@link identityOf}. */
  readonly identity: string
  readonly tiles: number
  readonly skipped: number
  readonly output: OutputState
}

/** A hash of everything that the vectors depend on: another run may go on only with the same. */
export async function identityOf(path: string, ...of: readonly unknown[]): Promise<string> {
  const { size } = await stat(path)
  return createHash('sha256')
    .update(JSON.stringify([size, ...of]))
    .digest('hex')
}

/** What an earlier run kept, if it is of the same raster, model and settings. */
export function usable(kept: unknown, identity: string): TilesDone | null {
  return (kept as TilesDone | null)?.identity === identity ? (kept as TilesDone) : null
}
