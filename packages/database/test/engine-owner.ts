// Starts an engine from the snapshot at the path that it is given, and sends its URL.
import { Engine } from '../src/testing/engines.ts'

const { url } = await Engine.start(process.argv[2]!)
process.send!(url)
