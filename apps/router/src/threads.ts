import { availableParallelism } from 'node:os'

/** Memory of a thread in addition to the shared graph; 45 MB were measured with the largest answers. */
const THREAD_BYTES = 64 << 20

/**
 * Number of threads: the CPU quota of the process, which Node reads from the cgroup, or the cores. A quarter of the
 * memory limit is the maximum for all threads.
 *
 * @param memoryBytes the limit; without one, 0 or more than the memory of a machine
 */
export function threadsGiven(cores = availableParallelism(), memoryBytes = process.constrainedMemory()): number {
  const fitting = memoryBytes > 0 ? Math.floor(memoryBytes / 4 / THREAD_BYTES) : cores
  return Math.max(1, Math.min(cores, fitting))
}
