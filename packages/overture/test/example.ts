import { readAoi } from '@terrane/core'
import { DecodeThread, columnsOf, findRelease, planType, readRuns, webFetch } from '@terrane/overture'

export async function printPlaces(catalogue: string, area: unknown, print: (line: string) => void): Promise<void> {
  const aoi = readAoi(area, { maxVertices: 1000, maxAreaKm2: 1e6 })
  const source = { fetch: webFetch, traffic: { requests: 0, bytes: 0 }, signal: AbortSignal.timeout(60_000) }
  const release = await findRelease(webFetch, catalogue, undefined, source.signal)
  const { files, runs } = await planType(source, release, 'place', aoi)
  const columns = columnsOf(files.map(({ schema }) => schema))
  const name = columns.findIndex((column) => column.name === 'name')
  await using thread = new DecodeThread(aoi)
  for await (const { rows } of readRuns(runs, thread, { columns, multi: [] })) {
    for (const { family, geometries, columns: values } of rows) {
      for (const [row, ewkb] of geometries.entries()) {
        print(`${String(values[0]![row])} ${String(values[name]?.[row])}: ${family} of ${ewkb.length} bytes`)
      }
    }
  }
  print(`${source.traffic.requests} requests to release ${release.release}`)
}
