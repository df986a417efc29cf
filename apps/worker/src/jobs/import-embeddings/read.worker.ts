import { serveThread } from '@terrane/core/threads'
import { openVectorTable, type VectorTable } from '@terrane/files/parquet'
import { isPoint } from './places.ts'
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
      return { rows, dims, storedType, srid, names, metadata, hasPoints: await beginsWithPoint(table) }
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

async function beginsWithPoint(table: VectorTable): Promise<boolean> {
  for await (const { places } of table.read([])) {
    const first = places.find((place) => place !== null)
    if (first) return isPoint(first)
  }
  return false
}
