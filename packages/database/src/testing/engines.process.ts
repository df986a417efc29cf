// The embedded databases of a test process, in a process beside it: Linux copies the page tables of a process for each child
// that it starts, which takes 30 ms of CPU for each GB of memory. Ends with the test process.
import { readFile } from 'node:fs/promises'
import { startPgliteServer, type PgliteServer } from '@terrane/pglite-server'
import type { EngineOrder, EngineReply } from './engines.ts'

const engines = new Map<number, PgliteServer>()

process.on('disconnect', () => process.exit())
process.on('message', (order: EngineOrder) => {
  void carryOut(order).then(
    (url) => reply({ id: order.id, url }),
    (error: Error) => reply({ id: order.id, problem: error.message }),
  )
})

async function carryOut({ engine, action }: EngineOrder): Promise<string> {
  if (action.do === 'start') {
    const embedded = await startPgliteServer({ snapshot: await readFile(action.snapshot), rewindable: true })
    engines.set(engine, embedded)
    return embedded.url
  }
  const embedded = engines.get(engine)!
  if (action.do === 'rewind') await embedded.rewind()
  else {
    engines.delete(engine)
    await embedded.close()
  }
  return embedded.url
}

function reply(message: EngineReply): void {
  process.send!(message)
}
