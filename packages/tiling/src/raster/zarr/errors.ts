import { defineError } from '@terrane/core'

export const zarrUnusable = defineError(
  'ZARR_UNUSABLE',
  'invalid',
  (f: { why: string }) => `The Zarr store cannot be read: ${f.why}.`,
  () => ({
    hint: 'The vectors are an array of rows, columns and bands with named dimensions; columns.vector names it. Chunks are raw, or compressed by gzip, zlib, zstd, blosc or lz4.',
  }),
)
