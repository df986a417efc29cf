/** Tags of one OSM element. */
export type Tags = ReadonlyMap<string, string>

/** What the values of an access key mean: true opens, false closes; other values say nothing. */
export type ValueTable = ReadonlyMap<string, boolean>

function values(open: string, closed = ''): ValueTable {
  return new Map([...words(open).map((v) => [v, true] as const), ...words(closed).map((v) => [v, false] as const)])
}

function words(text: string): string[] {
  return text.split(' ').filter(Boolean)
}

/** Access values by key. Source: Valhalla 3.6 `lua/graph.lua`, whose access this package follows. */
export const ACCESS = values(
  'yes private permissive use_sidepath delivery designated dismount destination customers official public restricted allowed permit residents',
  'no agricultural discouraged forestry emergency military psv bus taxi',
)
export const MOTOR_VEHICLE = values(
  'yes private permissive delivery designated destination customers official public restricted allowed permit residents',
  'no agricultural discouraged forestry psv bus taxi emergency military',
)
export const TRUCK = values(
  'designated yes destination delivery local private permissive official permit residents',
  'no agricultural discouraged unsuitable forestry',
)
export const BUS = values('yes designated urban permissive restricted destination official permit', 'no delivery')
export const PUBLIC_SERVICE_BUS = values('bus yes designated permissive 1 2', 'no')
export const PUBLIC_SERVICE_TAXI = values('taxi yes designated permissive 1 2', 'no')
/** On ways either kind of public service opens the way to both. */
export const PUBLIC_SERVICE = values('bus taxi yes designated permissive 1 2', 'no')
export const MOPED = values(
  'yes designated private permissive destination delivery dismount permit residents',
  'no unknown agricultural',
)
export const FOOT = values(
  'yes private permissive use_sidepath delivery designated destination customers official public restricted crossing sidewalk allowed passable footway permit residents',
  'no agricultural discouraged forestry',
)
export const WHEELCHAIR = values(
  'yes designated limited official destination public permissive only private assisted permit residents',
  'no impassable partial bad half',
)
export const BICYCLE = values(
  'yes designated use_sidepath permissive destination dismount lane track shared shared_lane sidepath share_busway allowed private official permit residents',
  'no none',
)
export const CYCLEWAY = values(
  'yes designated use_sidepath permissive destination dismount lane track shared shared_lane sidepath share_busway allowed private cyclestreet crossing',
)
export const HAZMAT = values('designated yes', 'no destination delivery')
/** Values that open a way for local access only. */
export const DESTINATION_ONLY = values('private destination customers delivery permit residents')

const KNOWN = new Set(
  [ACCESS, MOTOR_VEHICLE, TRUCK, BUS, PUBLIC_SERVICE, MOPED, FOOT, WHEELCHAIR, BICYCLE, DESTINATION_ONLY].flatMap(
    (table) => [...table.keys()],
  ),
)

/** The parts of an access value that no table has; `unknown` says itself that nothing is known. */
export function unknownParts(value: string): string[] {
  return value.split(';').filter((part) => !KNOWN.has(part.trim()) && part.trim() !== 'unknown')
}

/** What a value means; of a list (`yes;designated`) the first part that opens decides, else the last that closes. */
export function meaning(table: ValueTable, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined
  const whole = table.get(value)
  if (whole !== undefined) return whole
  let found: boolean | undefined
  for (const part of value.split(';')) {
    found = table.get(part.trim()) ?? found
    if (found === true) return true
  }
  return found
}

/** The non-negative number that a text begins with; undefined when it begins with none. */
export function leadingNumber(text: string | undefined, decimals = false): number | undefined {
  const match = text === undefined ? null : (decimals ? /^[0-9]*\.?[0-9]*/ : /^[0-9]+/).exec(text)
  const number = match === null || match[0] === '' || match[0] === '.' ? Number.NaN : Number(match[0])
  return Number.isFinite(number) ? number : undefined
}

/** Kilometres per hour of a speed tag; undefined outside 10 … 150 and where no number leads. */
export function kilometresPerHour(value: string | undefined): number | undefined {
  let speed = leadingNumber(value)
  if (speed === undefined || value === undefined) return undefined
  if (value.endsWith('mph')) speed = Math.round(speed * 1.609344)
  return speed > 150 || speed < 10 ? undefined : speed
}

const METRES: Readonly<Record<string, number>> = {
  m: 1,
  meter: 1,
  meters: 1,
  metre: 1,
  metres: 1,
  cm: 0.01,
  ft: 0.3048,
  feet: 0.3048,
  foot: 0.3048,
  "'": 0.3048,
  in: 0.0254,
  inch: 0.0254,
  inches: 0.0254,
  '"': 0.0254,
  "''": 0.0254,
}

/** Metres of a length tag such as `3.5`, `3,5 m`, `11'6"`; undefined where a part has an unknown unit. */
export function metres(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const text = value.replaceAll(',', '.').trim()
  if (text !== '' && Number.isFinite(Number(text))) return round2(Number(text))
  let sum = 0
  let parts = 0
  for (const [, number, unit] of text.matchAll(/(\d+\.?\d*) *([a-z"']*)/gi)) {
    // Of feet and inches the last mark may be missing: 11'6.
    const factor = METRES[unit === '' && parts > 0 ? 'in' : unit!.toLowerCase()]
    if (factor === undefined) return undefined
    sum += Number(number) * factor
    parts++
  }
  return parts > 0 ? round2(sum) : undefined
}

const POUND = 0.000_453_592_37
const TONNES: Readonly<Record<string, number>> = { kg: 0.001, lb: POUND, lbs: POUND, st: 2000 * POUND }

/** Tonnes of a weight tag; a bare number is tonnes. */
export function tonnes(value: string | undefined): number | undefined {
  const text = value?.replaceAll(/\s+/g, '')
  const number = leadingNumber(text, true)
  if (text === undefined || number === undefined) return undefined
  const unit = text.replace(/^[0-9.]+/, '')
  return round2(number * (TONNES[unit] ?? 1))
}

function round2(value: number): number {
  return Math.floor(value * 100 + 0.5) / 100
}
