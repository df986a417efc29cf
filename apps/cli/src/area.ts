import { readFile } from 'node:fs/promises'
import type { InputOf } from '@terrane/client'
import { TerraneError } from '@terrane/core/errors'
import { InvalidArgumentError, type Command } from 'commander'
import { ask, type Connection } from './connection.ts'
import { onTask } from './run-task.ts'

type Area = InputOf<'osmImportArea'>['aoiGeoJson']
type Box = readonly [number, number, number, number]

/** Options that name an area. */
export interface AreaOptions {
  readonly bbox?: Box
  readonly area?: string
}

/** Adds the options of an area to a command that runs a task. */
export function onArea(command: Command, on: (command: Command) => Command = onTask): Command {
  return on(command)
    .option('--bbox <west,south,east,north>', 'bounding box in degrees', box)
    .option('--area <file>', 'file with the area as GeoJSON')
}

/** The area that the options give; for the name of a place, its outline from the worker's geocoder. */
export async function areaOf({ bbox, area }: AreaOptions, connection: Connection, name?: string): Promise<Area> {
  if (area !== undefined) return await areaOfFile(area)
  if (!bbox) {
    if (name !== undefined) return await outlineOf(connection, name)
    throw areaMissing('No area is given')
  }
  const [west, south, east, north] = bbox
  const ring = [[west, south], [east, south], [east, north], [west, north], [west, south]] // prettier-ignore
  return { type: 'Polygon', coordinates: [ring] }
}

async function areaOfFile(path: string): Promise<Area> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Area
  } catch (error) {
    const isJson = error instanceof SyntaxError
    const why = isJson ? `The file ${path} of --area is not JSON` : `The file ${path} of --area cannot be read`
    throw new TerraneError('AREA_UNREADABLE', 'invalid', why, { hint: 'Give a file with a GeoJSON polygon.' })
  }
}

async function outlineOf(connection: Connection, name: string): Promise<Area> {
  const project = connection.projectRef === undefined ? {} : { projectRef: connection.projectRef }
  const query = new URLSearchParams({ name, ...project }).toString()
  try {
    const place = (await ask(connection, `/worker/places?${query}`)) as { name: string; geojson: Area }
    process.stderr.write(`${place.name}\n`)
    return place.geojson
  } catch (error) {
    if (error instanceof TerraneError && /^(?:GEOCODER_|PLACE_)/.test(error.code)) throw areaMissing(error.message)
    throw error
  }
}

function areaMissing(why: string): TerraneError {
  const hint = 'Add --bbox west,south,east,north in degrees, or --area file.geojson.'
  return new TerraneError('AREA_MISSING', 'invalid', why, { hint })
}

function box(text: string): Box {
  const numbers = text.split(',').map(Number)
  if (numbers.length === 4 && numbers.every(Number.isFinite)) return numbers as unknown as Box
  throw new InvalidArgumentError('Give four numbers: west,south,east,north.')
}
