import { serveThread } from '@terrane/core/threads'
import { openVectorTable, type VectorTable } from '@terrane/files/parquet'
import { kindOfPlace, ringsOfPlace } from './places.ts'
import type { ReadMethods } from './protocol.ts'
import { RowMaker } from './row-maker.ts'

// Files come from outside, so a heap of its own limits the memory that a damaged one can take.
serveThread<null, ReadMethods>(() => {
  let table: VectorTable | null = null
  let maker: RowMaker | null = null
  return {
    open: async ({ path, columns }) => {
      table = await openVectorTable(path, columns)
      const { rows, dims, storedType, srid, names, metadata } = table
      const first = await firstPlace(table)
      const kind = first === null ? null : kindOfPlace(first)
      const isBeyondDegrees = table.isAssumed && kind !== null && ringsOfPlace(first!, 1) === null
      return { rows, dims, storedType, srid, isBeyondDegrees, names, metadata, hasPoints: kind === 'point' }
    },
    begin: (plan) => {
      maker = new RowMaker(table!, plan)
    },
    next: async (_, transfer) => {
      const rows = await maker!.next()
      if (rows !== null) transfer.push(rows.vectors.buffer as ArrayBuffer)
      return rows
    },
    summary: () => maker!.summary(),
  }
})

async function firstPlace(table: VectorTable): Promise<Uint8Array | null> {
  for await (const { places } of table.read([])) {
    const first = places.find((place) => place !== null)
    if (first) return first
  }
  return null
}
