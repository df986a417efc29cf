import { openSections } from '../graph/sections.ts'
import { type MappedMemory, mappedMemoryOf, viewMapped } from './mapped.ts'
import { type Network, openNetwork } from './network.ts'

/**
 * A network as a thread can be sent it: nothing of it is copied, unless it lies in memory that threads cannot share. The
 * network must be kept for as long as the thread uses it.
 */
export type SharedNetwork = ArrayBufferLike | MappedMemory

/** A network to send to another thread of this process. */
export function shareNetwork({ file: { buffer } }: Network): SharedNetwork {
  return mappedMemoryOf(buffer) ?? buffer
}

/** The network that another thread shares. */
export async function openShared(shared: SharedNetwork): Promise<Network> {
  return openNetwork(openSections('address' in shared ? await viewMapped(shared) : shared))
}
