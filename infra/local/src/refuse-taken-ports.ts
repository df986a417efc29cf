import { once } from 'node:events'
import { createServer } from 'node:net'
import { TerraneError } from '@terrane/core'
import type { Settings } from './settings.ts'

/** @throws PORT_TAKEN with every port of the stack that another program uses; call it before anything is started */
export async function refuseTakenPorts({ ports, databaseUrl }: Settings): Promise<void> {
  const taken: string[] = []
  for (const [name, port] of Object.entries(ports)) {
    if (name === 'database' && databaseUrl !== null) continue
    if (await isTaken(port)) taken.push(`${port} (TERRANE_${name.toUpperCase()}_PORT)`)
  }
  if (taken.length === 0) return
  throw new TerraneError('PORT_TAKEN', 'conflict', `Something already listens on ${taken.join(', ')}.`, {
    hint: 'Is Terrane running in another terminal? Stop it, or set the variables in brackets to other ports.',
  })
}

async function isTaken(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return true
    throw error
  } finally {
    server.close()
  }
}
