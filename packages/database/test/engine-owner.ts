// Starts an engine from the snapshot at the path that it is given, sends its URL, and has nothing to do once the parent
// disconnects.
import { Engine } from '../src/testing/engines.ts'

// A process without a listener does not wait for its parent.
process.once('disconnect', () => {})
const { url } = await Engine.start(process.argv[2]!)
process.send!(url)
