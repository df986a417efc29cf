import type { Aoi } from '@terrane/core'
import type { OsmElement } from '../element.ts'
import { openOsm } from '../open.ts'
import { writePbf } from '../pbf/write.ts'
import { bytesSource } from '../source.ts'
import { importOsmArea } from '../topics/import-area.ts'
import type { ImportOptions, RowSink } from '../topics/import-area.ts'
import type { Topics } from '../topics/tables.ts'
import type { UpdatePlan } from './plan-update.ts'

const LETTERS: Readonly<Record<string, OsmElement['type']>> = { N: 'node', W: 'way', R: 'relation' }

/** Passes rows of affected elements to the sink; others only give geometry. @throws as {@link importOsmArea} */
export async function importAffected(
  { elements, affected }: UpdatePlan,
  { aoi, topics }: { readonly aoi: Aoi | null; readonly topics: Topics },
  sink: RowSink,
  options: ImportOptions = {},
): Promise<void> {
  const file = Buffer.concat([...writePbf(elements, { compression: 'none' })])
  const only: RowSink = {
    write: (table, rows) =>
      sink.write(
        table,
        rows.filter(([, letter, id]) => affected[LETTERS[String(letter)]!].has(Number(id))),
      ),
  }
  await importOsmArea(await openOsm(bytesSource(file)), aoi, topics, only, options)
}
