import type { Instance } from './instance.ts'

/** The pool interface that the host-wide limit uses. */
export interface Tenant {
  /** An instance without work that it can spare, if any: one that is told to end, else the longest unused. */
  spare(): Instance | null
}

/** Bounds the number of instances on this host; makes room by ending one that is told to end, else the one that has been idle longest. */
export class Capacity {
  readonly #limit: number
  readonly #tenants = new Set<Tenant>()
  #count = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get used(): number {
    return this.#count
  }

  join(tenant: Tenant): void {
    this.#tenants.add(tenant)
  }

  leave(tenant: Tenant): void {
    this.#tenants.delete(tenant)
  }

  /** Takes one place; false when every instance on the host has work. */
  take(): boolean {
    if (this.#count >= this.#limit) {
      let oldest: Instance | null = null
      for (const tenant of this.#tenants) {
        const spare = tenant.spare()
        if (spare && (!oldest || isBefore(spare, oldest))) oldest = spare
      }
      if (!oldest) return false
      oldest.kill('idle')
    }
    this.#count++
    return true
  }

  give(): void {
    this.#count--
  }
}

function isBefore(a: Instance, b: Instance): boolean {
  if ((a.exitReason === null) !== (b.exitReason === null)) return a.exitReason !== null
  return a.usedAt < b.usedAt
}
