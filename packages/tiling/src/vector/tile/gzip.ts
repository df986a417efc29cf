/** How tiles and directories are compressed; the level is the one beyond which size gains less than time costs. */
export const GZIP = { level: 6, memLevel: 7 } as const

/** Where a gzip header names the operating system; 255, unknown, makes archives the same on every machine. */
export function withoutPlatform(gzipped: Uint8Array): Uint8Array {
  gzipped[9] = 255
  return gzipped
}
