import type { Principal } from '@terrane/auth'
import { exportsBusy, tooManyOfOneCaller } from './errors.ts'

/** Roles of callers of a project. Each has one place that no other role can take. */
const ROLES = ['anon', 'authenticated', 'service_role']

export interface PlaceLimits {
  /** Maximum concurrent exports of all callers; each holds a database connection while its client reads. */
  readonly most: number
  /** Maximum concurrent exports of one user, or of one address when the key names no user. */
  readonly mostOfCaller: number
}

/** Counts running exports by role and caller, so that no client blocks the others. */
export class ExportPlaces {
  readonly #limits: PlaceLimits
  readonly #roles = new Map<string, number>()
  readonly #callers = new Map<string, number>()

  constructor(limits: PlaceLimits) {
    this.#limits = limits
  }

  /**
   * Takes a place for a caller. The returned function frees it; further calls of it do nothing.
   *
   * @throws TOO_MANY_EXPORTS (429) when the caller runs its maximum, EXPORTS_BUSY (503) when no place is free for its
   * role
   */
  take({ role, subject }: Pick<Principal, 'role' | 'subject'>, address: string): () => void {
    const { most, mostOfCaller } = this.#limits
    const caller = `${role} ${subject ?? address}`
    if ((this.#callers.get(caller) ?? 0) >= mostOfCaller) throw tooManyOfOneCaller(mostOfCaller)
    let running = 0
    for (const count of this.#roles.values()) running += count
    const kept = ROLES.filter((other) => other !== role && !this.#roles.has(other)).length
    // A role without a running export takes its reserved place.
    const isFirst = !this.#roles.has(role)
    if (running >= most || (!isFirst && running + kept >= most)) throw exportsBusy(most)
    for (const [counts, key] of this.#counts(role, caller)) counts.set(key, (counts.get(key) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      for (const [counts, key] of this.#counts(role, caller)) {
        const left = counts.get(key)! - 1
        if (left === 0) counts.delete(key)
        else counts.set(key, left)
      }
    }
  }

  #counts(role: string, caller: string): readonly [Map<string, number>, string][] {
    return [
      [this.#roles, role],
      [this.#callers, caller],
    ]
  }
}
