/** A temporary file with reads and writes at any position; it is deleted when closed. */
export interface ScratchFile {
  /** Writes all of `bytes` at `position`. */
  write(bytes: Uint8Array, position: number): void
  /** Fills all of `into` from `position`. */
  read(into: Uint8Array, position: number): void
  close(): void
}

/** Memory limit for look-ups by id, and the temporary file for the rest. */
export interface Spill {
  /** Bytes for the locations of nodes and the lines of the ways that relations need. */
  readonly memoryBytes: number
  readonly openScratch: () => ScratchFile
}

/** The part of the memory that is for nodes; the rest is for the ways of relations. */
export const NODES_SHARE = 0.75

/** Bytes of memory that a node's location takes. */
export const NODE_BYTES = 10

/** Bytes per node on disk: 12 for its location, and its repetition in ways of relations. */
const SPILLED_NODE_BYTES = 16

/** Estimated bytes on disk for a file with `nodes` nodes at a memory limit; 0 when all fit into memory. */
export function spillBytes(nodes: number, memoryBytes: number): number {
  return nodes * NODE_BYTES <= memoryBytes * NODES_SHARE ? 0 : nodes * SPILLED_NODE_BYTES
}
