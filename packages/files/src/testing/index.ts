// For tests of this repository: what processes do otherwise, in this one.
export { sniffFile } from '../unpack/sniff.ts'
export { gdalHere } from './gdal-here.ts'
export { readersHere } from './read-here.ts'
