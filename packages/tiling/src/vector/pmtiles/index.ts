/** The parts of a PMTiles archive, for browsers as well: none of them uses a file system or a thread. */
export { TileEntries, buildDirectories } from './directory.ts'
export type { Gzip } from './directory.ts'
export { writeHeader } from './header.ts'
export type { HeaderFields } from './header.ts'
export { tileIdOf } from './tile-id.ts'
