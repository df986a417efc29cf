import { seededRandom } from '@terrane/core'
import type { Point } from './builder.ts'
import { band, blob, rectangle } from './shapes.ts'

/** Half the side of the map in metres. */
export const HALF = 1500

/** Fixed elements of the town, from which everything else is placed. */
export interface Plan {
  /** Middle of the river, from west to east. */
  readonly river: readonly Point[]
  readonly riverArea: readonly Point[]
  readonly riverIsland: readonly Point[]
  readonly lake: readonly Point[]
  readonly lakeIsland: readonly Point[]
  readonly pond: readonly Point[]
  readonly forest: readonly Point[]
  readonly clearing: readonly Point[]
  /** The built-up areas south and north of the river. */
  readonly town: readonly Point[]
  readonly northTown: readonly Point[]
  readonly park: readonly Point[]
  readonly industry: readonly Point[]
  readonly fields: readonly { readonly ring: readonly Point[]; readonly crop: string }[]
}

export const RIVER_WIDTH = 40

/** Middle of the river at a longitude. */
export function riverY(x: number): number {
  return 300 + 90 * Math.sin((x + 200) / 450)
}

/** Streets of the town run along the lines of this grid, which bend the more the farther they are from the main road. */
export function gridPoint(column: number, row: number): Point {
  const sway = (column / 9) * 38 * Math.sin(row * 0.42 + column * 0.15)
  return [column * 100 + sway, row * 90 + 20 * Math.sin(column * 0.45)]
}

const CROPS = ['wheat', 'maize', 'rapeseed', 'barley', 'grass', 'sugar_beet']

export function makePlan(seed: number): Plan {
  const random = seededRandom(seed)
  const rough = (most: number) => () => (random() - 0.5) * 2 * most
  const river = Array.from({ length: 41 }, (_, i): Point => [-1600 + i * 80, riverY(-1600 + i * 80)])
  const plan = {
    river,
    riverArea: band(river, RIVER_WIDTH),
    riverIsland: blob([760, riverY(760)], 45, 7, 12, rough(0.1)),
    lake: blob([1000, 930], 330, 220, 40, rough(0.08)),
    lakeIsland: blob([1060, 960], 60, 40, 14, rough(0.15)),
    pond: blob([-350, -675], 32, 20, 16, rough(0.12)),
    forest: blob([-1000, 1000], 420, 380, 36, rough(0.12)),
    clearing: blob([-1060, 1050], 110, 80, 14, rough(0.15)),
    town: [...gridLine(-9, -9, 9, -9), ...gridLine(9, -8, 9, 1), ...gridLine(8, 1, -9, 1), ...gridLine(-9, 0, -9, -8)],
    northTown: [...gridLine(-4, 5, 5, 5), ...gridLine(5, 6, 5, 9), ...gridLine(4, 9, -4, 9), ...gridLine(-4, 8, -4, 6)],
    park: [gridPoint(-4, -8), gridPoint(-3, -8), gridPoint(-3, -7), gridPoint(-4, -7)],
    industry: [gridPoint(6, -9), gridPoint(9, -9), gridPoint(9, -6), gridPoint(6, -6)],
    fields: [] as { ring: readonly Point[]; crop: string }[],
  }
  const taken = [plan.lake, plan.forest, plan.town, plan.northTown]
  for (let x = -HALF; x < HALF; x += 250) {
    for (let y = -HALF; y < HALF; y += 200) {
      const parcel = rectangle(x + 12, y + 12, x + 238, y + 188)
      const crop = CROPS[Math.floor(random() * CROPS.length)]!
      if (isFree(parcel, taken)) plan.fields.push({ ring: parcel, crop })
    }
  }
  return plan
}

/** A parcel away from the town, water and forest, and from the roads and rails that cross the country. */
function isFree(parcel: readonly Point[], taken: readonly (readonly Point[])[]): boolean {
  const [[west, south], , [east, north]] = parcel as [Point, Point, Point, Point]
  if (south < -960 && north > -1400) return false
  if (west < 60 && east > -60) return false
  for (const x of [west, (west + east) / 2, east]) {
    if (south < riverY(x) + 70 && north > riverY(x) - 70) return false
  }
  return taken.every((ring) => {
    const xs = ring.map(([x]) => x)
    const ys = ring.map(([, y]) => y)
    const apart = west > Math.max(...xs) + 10 || east < Math.min(...xs) - 10 || south > Math.max(...ys) + 10
    return apart || north < Math.min(...ys) - 10
  })
}

/** Grid points along one line of the grid, both ends included. */
function gridLine(fromColumn: number, fromRow: number, toColumn: number, toRow: number): Point[] {
  const steps = Math.max(Math.abs(toColumn - fromColumn), Math.abs(toRow - fromRow))
  return Array.from({ length: steps + 1 }, (_, i) => {
    const share = steps === 0 ? 0 : i / steps
    return gridPoint(
      Math.round(fromColumn + (toColumn - fromColumn) * share),
      Math.round(fromRow + (toRow - fromRow) * share),
    )
  })
}
