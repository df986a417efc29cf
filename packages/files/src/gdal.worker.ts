// A process of its own: GDAL in WebAssembly converts layers into a GeoPackage. It sees the folder of the data and that of
// the result, has no network, and can be killed at any moment. Its argument is the folder of
// gdal3.js. A report goes to file descriptor 3, as a line of JSON.
import { constants, readFileSync, writeSync } from 'node:fs'
import type { Conversion } from './engine.ts'
import { GdalError, convertLayers, loadGdal } from './gdal-module.ts'
import { writeAll } from './write-all.ts'

const REPORTS = 3

// The module reads constants through `process.binding`, which the permission model blocks.
Object.assign(process, { binding: () => ({ fs: constants }) })
const gdal = await loadGdal(process.argv[2]!, (text) => writeSync(2, `${text}\n`))
// The request arrives once its file is available. GDAL is loaded before, because loading takes longer than fetching
// most files.
const conversion = JSON.parse(readFileSync(0, 'utf8')) as Conversion
try {
  convertLayers(gdal, conversion, (layers) => writeAll(REPORTS, Buffer.from(`${JSON.stringify({ layers })}\n`)))
} catch (error) {
  if (!(error instanceof GdalError)) throw error
  writeSync(2, `${error.message}\n`)
  process.exit(1)
}
process.exit(0)
