/**
 * Capabilities of the server, read once when it is opened. Callers choose a code path by them, and both paths pass the
 * same tests. The embedded database (PGlite behind a socket) has one session, which its clients use in turns, each with
 * its own settings. Its statements never run concurrently, advisory locks exclude no other client, and LISTEN delivers
 * nothing.
 */
export interface Capabilities {
  readonly engine: 'postgres' | 'pglite'
  /** Server version as a number, e.g. 170011. */
  readonly version: number
  /** Statements of several connections run concurrently. */
  readonly parallel: boolean
  readonly notify: boolean
  readonly locks: boolean
}

/** Reads the capabilities from the server's own description of itself. */
export function capabilitiesOf(versionText: string, versionNumber: number): Capabilities {
  const embedded = versionText.includes('PGlite')
  return {
    engine: embedded ? 'pglite' : 'postgres',
    version: versionNumber,
    parallel: !embedded,
    notify: !embedded,
    locks: !embedded,
  }
}
