/** A temporary file: written and read at given positions, gone once closed. */
export interface ScratchFile {
  /** Writes all of `bytes` at `position`. */
  write(bytes: Uint8Array, position: number): void
  /** Fills all of `into` from `position`. */
  read(into: Uint8Array, position: number): void
  close(): void
}

/** Memory for what is looked up by id, and where the rest of it goes. */
export interface Spill {
  /** Bytes for the locations of nodes and the lines of the ways that relations need. */
  readonly memoryBytes: number
  readonly openScratch: () => ScratchFile
}

/** The part of the memory that is for nodes; the rest is for the ways of relations. */
export const NODES_SHARE = 0.75

/** Bytes of memory that a node's location takes. */
export const NODE_BYTES = 10

/** Bytes that a node takes on disk: 12 for its location, and what the ways of relations repeat of it. */
const SPILLED_NODE_BYTES = 16

/** About how many bytes of disk a file of so many nodes takes where it has so much memory: 0 when all of it fits there. */
export function spillBytes(nodes: number, memoryBytes: number): number {
  return nodes * NODE_BYTES <= memoryBytes * NODES_SHARE ? 0 : nodes * SPILLED_NODE_BYTES
}
