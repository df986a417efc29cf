// For tests of this repository: work of child processes, run in this process.
export { sniffFile } from '../unpack/sniff.ts'
export { gdalHere } from './gdal-here.ts'
export { readersHere } from './read-here.ts'
