// A process of its own for a server that is to be killed: says its URL on a line.
import { startPgliteServer, type SyncMode } from '../../src/index.ts'

const [dataDir = '', stuckMs = '10000', sync = 'soon'] = process.argv.slice(2)
const { url } = await startPgliteServer({
  dataDir,
  sync: sync as SyncMode,
  limits: { stuckMs: Number(stuckMs) },
})
process.stdout.write(`${url}\n`)
