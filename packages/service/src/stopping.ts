import type { Server } from 'node:http'

const stopping = new WeakSet<Server>()

/** Marks the app as stopping: it then reports that it is not ready, so that load balancers use other instances. */
export function markStopping({ server }: { readonly server: Server }): void {
  stopping.add(server)
}

/** Whether the app is stopping. */
export function isStopping({ server }: { readonly server: Server }): boolean {
  return stopping.has(server)
}
