import type { Usage } from './meter.ts'

/** State that the watchdog keeps about an instance between two checks. */
export interface Health {
  /** When CPU time was last compared; 0 before the first time. */
  readonly sampledAt: number
  readonly cpuSeconds: number
  /** True when it used much of a core between the last two checks. */
  readonly busy: boolean
  /** Number of consecutive checks at which it was busy without work. */
  readonly busyLooks: number
}

export type Verdict = 'fine' | 'memory' | 'idle_cpu' | 'recycle'

export const NEW_INSTANCE: Health = { sampledAt: 0, cpuSeconds: 0, busy: false, busyLooks: 0 }

/** Minimum interval between two comparisons of CPU time, in milliseconds. */
export const SAMPLE_MS = 1000
/**
 * Share of one core that counts as busy for an instance without work, and the number of such checks in a row that end
 * it.
 */
const IDLE_CPU_SHARE = 0.3
const IDLE_CPU_LOOKS = 10
/** Private memory of the runtime itself, on top of the function's budget. */
const RUNTIME_MB = 40
/** CPU seconds after which an instance is replaced without interrupting requests, well before the kernel's limit. */
const REPLACE_AFTER_CPU_SECONDS = 1800

/**
 * Milliseconds since the previous check in which the function itself has blocked its event loop, while no ping is
 * answered: CPU time while the process runs, all of the time while it waits for something (`Atomics.wait`, a full
 * pipe). A process that is stopped, or gets no CPU, does not count as blocked by the function.
 *
 * @param before null: not known
 */
export function stoodStill(before: Usage | null, now: Usage | null, passedMs: number): number {
  if (!before || !now || now.state === null || now.state === 'S') return passedMs
  return now.state === 'R' ? Math.min(passedMs, (now.cpuSeconds - before.cpuSeconds) * 1000) : 0
}

/**
 * Result of one check of an instance: too much memory, busy without work for ten seconds, due for replacement after
 * half an hour of CPU time, or fine.
 *
 * @param working whether a request or background work is in it
 */
export function checkHealth(
  before: Health,
  { cpuSeconds, privateMb }: Pick<Usage, 'cpuSeconds' | 'privateMb'>,
  { memoryMb, working, now }: { readonly memoryMb: number; readonly working: boolean; readonly now: number },
): { readonly health: Health; readonly verdict: Verdict } {
  if (privateMb > memoryMb + RUNTIME_MB) return { health: before, verdict: 'memory' }
  const passedMs = now - before.sampledAt
  if (passedMs < SAMPLE_MS) return { health: before, verdict: 'fine' }
  const share = (cpuSeconds - before.cpuSeconds) / (passedMs / 1000)
  const busy = before.sampledAt > 0 && share > IDLE_CPU_SHARE
  const busyLooks = busy && !working ? before.busyLooks + 1 : 0
  const health = { sampledAt: now, cpuSeconds, busy, busyLooks }
  if (busyLooks >= IDLE_CPU_LOOKS) return { health, verdict: 'idle_cpu' }
  return { health, verdict: cpuSeconds > REPLACE_AFTER_CPU_SECONDS ? 'recycle' : 'fine' }
}
