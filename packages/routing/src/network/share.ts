import { openSections } from '../graph/sections.ts'
import { type MappedMemory, mappedMemoryOf, viewMapped } from './mapped.ts'
import { type Network, openNetwork } from './network.ts'

/**
 * A network in a form that can be sent to a thread, without a copy if its memory can be shared. The sender must keep
 * the network as long as the thread uses it.
 */
export type SharedNetwork = ArrayBufferLike | MappedMemory

/** A network to send to another thread of this process. */
export function shareNetwork({ file: { buffer } }: Network): SharedNetwork {
  return mappedMemoryOf(buffer) ?? buffer
}

/** Opens the network that another thread shares. */
export async function openShared(shared: SharedNetwork): Promise<Network> {
  return openNetwork(openSections('address' in shared ? await viewMapped(shared) : shared))
}
