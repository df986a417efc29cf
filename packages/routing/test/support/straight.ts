import { MODES } from '../../src/index.ts'
import { drawTown } from './ascii-map.ts'

export const road = { highway: 'residential' }
export type Tags = Readonly<Record<string, string>>

/** Where a strip of streets is; metres of one letter of its drawing. */
export interface Strip {
  readonly street?: Tags
  readonly gate?: Tags
  readonly origin?: { readonly lon: number; readonly lat: number }
  readonly meters?: number
}

export interface Passage {
  readonly path?: string
  readonly time?: string | undefined
  readonly modes?: readonly string[]
  /** Options of each mode. */
  readonly options?: Readonly<Record<string, unknown>>
}

/** Wheelchairs apart, which are walkers by their type. */
export const WITH_WHEELCHAIRS: readonly string[] = [...MODES, 'wheelchair']

/** The modes that go straight on from A to D, over a street that is tagged, in place of the way around. */
export async function straight(
  { street = {}, gate = {}, origin, meters = 40 }: Strip,
  { path = 'AD', time, modes = MODES, options }: Passage = {},
): Promise<string[]> {
  const town = await drawTown({
    map: `
      A---B-x-C---D
          |   |
          E---F
    `,
    meters,
    ways: { AB: road, BxC: { ...road, ...street }, CD: road, BE: road, EF: road, FC: road },
    nodes: { x: gate },
    ...(origin && { origin, drivingSide: 'country' }),
  })
  const date = time === undefined ? {} : { date_time: { type: 1, value: time } }
  return modes.filter((mode) => {
    const wheels = { costing: 'pedestrian', costing_options: { pedestrian: { type: 'wheelchair' } } }
    const request =
      mode === 'wheelchair' ? wheels : { costing: mode, ...(options && { costing_options: { [mode]: options } }) }
    return !/[EF]/.test(town.route(path, { ...request, ...date }).path)
  })
}
