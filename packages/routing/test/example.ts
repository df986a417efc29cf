import { fileSource, openOsm } from '@terrane/osm'
import { buildNetwork, Router } from '@terrane/routing'

/** Prints the way from one place to another, read from an extract of OpenStreetMap. */
export async function directions(extract: string, from: Place, to: Place): Promise<string[]> {
  const network = await buildNetwork([await openOsm(await fileSource(extract))])
  const { trip } = new Router(network).route({ locations: [from, to], costing: 'bicycle', units: 'kilometers' })
  const [leg] = trip.legs
  return leg!.maneuvers!.map(({ instruction, length }) => `${instruction} (${length} km)`)
}

type Place = { lat: number; lon: number }
