// A separate process for a server that a test kills; prints its URL on a line.
import { startPgliteServer, type SyncMode } from '../../src/index.ts'

const [dataDir = '', stuckMs = '10000', sync = 'soon'] = process.argv.slice(2)
const { url } = await startPgliteServer({
  dataDir,
  sync: sync as SyncMode,
  limits: { stuckMs: Number(stuckMs) },
})
process.stdout.write(`${url}\n`)
