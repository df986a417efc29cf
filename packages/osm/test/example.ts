import { readAoi } from '@terrane/core'
import { fileSource, importOsmArea, openOsm, topicTables } from '@terrane/osm'

export async function printStreets(path: string, area: unknown, print: (line: string) => void): Promise<void> {
  const aoi = readAoi(area, { maxVertices: 100, maxAreaKm2: 1000 })
  const topics = ['streets', 'buildings']
  const tables = topicTables(topics)
  const { header, counts } = await importOsmArea(await openOsm(await fileSource(path)), aoi, topics, {
    write(table, rows) {
      for (const [, type, osmId, name] of rows) print([tables[table]?.suffix, type, osmId, name].join(' '))
    },
  })
  print(`as of ${header.timestamp?.toISOString()}, ${counts.outside} features outside`)
}
