import type { Instance } from './instance.ts'

/** The pool interface that the host-wide limit uses. */
export interface Tenant {
  /** An idle instance to end, if any: first one with an exit reason, else the longest idle. */
  spare(): Instance | null
}

/** Bounds the number of instances on this host; makes room by ending an instance with an exit reason, else the longest idle one. */
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
