import { availableParallelism } from 'node:os'

/** Memory of a thread beside the graph, which all share: measured 45 MB with the largest buffers of an answer. */
const THREAD_BYTES = 64 << 20

/**
 * Threads for what the process is given: its CPU quota, which Node reads of the cgroup, or the cores; at most what a
 * quarter of its memory limit holds.
 *
 * @param memoryBytes the limit; 0 or more than a machine has where there is none
 */
export function threadsGiven(cores = availableParallelism(), memoryBytes = process.constrainedMemory()): number {
  const fitting = memoryBytes > 0 ? Math.floor(memoryBytes / 4 / THREAD_BYTES) : cores
  return Math.max(1, Math.min(cores, fitting))
}
