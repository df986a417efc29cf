import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'

/** The demo town's map in the folder of data files. */
export const TOWN_FILE = 'demo-town.osm.pbf'

/** West, south, east, north of the town in degrees. */
export const TOWN_BBOX = buildCity().header.bbox

/** Writes the demo town as OpenStreetMap PBF, once. Returns the path. */
export async function writeTown(folder: string): Promise<string> {
  const path = join(folder, TOWN_FILE)
  if (existsSync(path)) return path
  const city = buildCity()
  await writeFile(`${path}.part`, writePbf(city.elements, city.header))
  await rename(`${path}.part`, path)
  return path
}
