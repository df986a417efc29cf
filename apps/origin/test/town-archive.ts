import { buildPmtiles } from '@terrane/tiling/vector'

/** A PMTiles archive with one point in its layer `dots`, zooms 0 to 10. */
export async function townArchive(): Promise<Buffer> {
  const geometry = Buffer.alloc(21)
  geometry.writeUInt8(1, 0)
  geometry.writeUInt32LE(1, 1)
  geometry.writeDoubleLE(11.58, 5)
  geometry.writeDoubleLE(48.14, 13)
  const batch = { geometry, geometryEnds: Uint32Array.of(21), ids: [1], columns: [['a']] }
  const batches = (async function* () {
    yield batch
  })()
  using made = await buildPmtiles(batches, { layers: [{ name: 'dots', attributes: ['name'] }], zooms: [0, 10] })
  return Buffer.concat([...made.read()])
}
