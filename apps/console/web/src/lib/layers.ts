import { get, projectPath } from './api.ts'

/** An archive in bucket pmtiles. */
export interface Layer {
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly updated_at: string | null
}

export interface LayerList {
  /** False while the bucket does not exist. */
  readonly exists: boolean
  readonly data: readonly Layer[]
}

export function readLayers(ref: string, signal?: AbortSignal): Promise<LayerList> {
  return get(projectPath(ref, '/layers'), signal)
}
