import { tasksOf, type Document, type TaskDescription } from '../forms/openapi.ts'
import { get, projectPath } from './api.ts'
import type { ModelState } from './models.ts'
import { useResource, type Resource } from './use-resource.ts'

/** Limits of one job, and the current load of the worker. */
export interface Capacity {
  readonly maxAoiKm2: number
  /** Absent for a worker of an earlier release. */
  readonly maxAoiVertices?: number
  readonly queued: number
  readonly running: number
  /** Models of embeddings; absent when the worker lists none. */
  readonly models?: readonly ModelState[]
}

/** The tasks of the project's worker, from its own description. */
export function useTasks(ref: string): Resource<readonly TaskDescription[]> {
  return useResource(`doc ${ref}`, async (signal) => tasksOf(await get<Document>(projectPath(ref, '/doc'), signal)))
}

export function useCapacity(ref: string): Resource<Capacity> {
  return useResource(`capacity ${ref}`, (signal) => get<Capacity>(projectPath(ref, '/capacity'), signal))
}
