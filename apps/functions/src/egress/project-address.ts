import type { Verify } from '@terrane/auth'
import type { PublicKey } from '../projects/key-set.ts'

/** Address of a project's API, and the keys that privileged functions may use. */
export interface ProjectAddress {
  readonly apiUrl: string
  /** URL of the project for clients outside. */
  readonly publicUrl: string
  readonly serviceKey: string | null
  /** For the routing engine and other shared services. */
  readonly servicesKey: string | null
  /** Verifies the project's tokens, so that the host can identify users itself. */
  readonly verify: Verify
  readonly publicKeys: () => Promise<readonly PublicKey[]>
}
