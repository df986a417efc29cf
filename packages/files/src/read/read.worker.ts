// A process of its own: reads a file that may be hostile, by readers without GDAL. It has no network, writes nowhere, and
// can be killed at any moment.
import { serveProcess } from './serve-process.ts'

await serveProcess()
