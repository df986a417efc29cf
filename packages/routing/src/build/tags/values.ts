/** Tags of one OSM element. */
export type Tags = ReadonlyMap<string, string>

/** Values of `wheelchair`, which is separate from the access keys: true opens, false closes. */
export const WHEELCHAIR: ReadonlyMap<string, boolean> = new Map([
  ...words(
    'yes designated limited official destination public permissive only private assisted permit residents',
    true,
  ),
  ...words('no impassable partial bad half', false),
])
/** Values of `hazmat`: true opens, false closes. */
export const HAZMAT: ReadonlyMap<string, boolean> = new Map([
  ...words('designated yes', true),
  ...words('no destination delivery', false),
])

function words(text: string, means: boolean): [string, boolean][] {
  return text.split(' ').map((word) => [word, means])
}

/** The non-negative number at the beginning of a text; undefined when there is none. */
export function leadingNumber(text: string | undefined, decimals = false): number | undefined {
  const match = text === undefined ? null : (decimals ? /^[0-9]*\.?[0-9]*/ : /^[0-9]+/).exec(text)
  const number = match === null || match[0] === '' || match[0] === '.' ? Number.NaN : Number(match[0])
  return Number.isFinite(number) ? number : undefined
}

/** Kilometres per hour of a speed tag; undefined outside 10 … 150 and without a leading number. */
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

/**
 * Metres of a length tag such as `3.5`, `3,5 m`, `11'6"`, the minimum of a list; undefined when a part has an unknown
 * unit.
 */
export function metres(value: string | undefined): number | undefined {
  return leastOf(value, metresOf)
}

/** The minimum of a list such as `3.5;4`; undefined when no value can be parsed. */
function leastOf(value: string | undefined, read: (text: string) => number | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!value.includes(';')) return read(value)
  const known = value.split(';').flatMap((part) => read(part) ?? [])
  return known.length === 0 ? undefined : Math.min(...known)
}

function metresOf(value: string): number | undefined {
  const text = value.replaceAll(',', '.').trim()
  if (text !== '' && Number.isFinite(Number(text))) return round2(Number(text))
  let sum = 0
  let parts = 0
  for (const [, number, unit] of text.matchAll(/(\d+\.?\d*) *([a-z"']*)/gi)) {
    // The last mark of feet and inches may be missing: 11'6.
    const factor = METRES[unit === '' && parts > 0 ? 'in' : unit!.toLowerCase()]
    if (factor === undefined) return undefined
    sum += Number(number) * factor
    parts++
  }
  return parts > 0 ? round2(sum) : undefined
}

const POUND = 0.000_453_592_37
const TONNES: Readonly<Record<string, number>> = { kg: 0.001, lb: POUND, lbs: POUND, st: 2000 * POUND }

/** Tonnes of a weight tag, the minimum of a list; a bare number is in tonnes. */
export function tonnes(value: string | undefined): number | undefined {
  return leastOf(value, tonnesOf)
}

function tonnesOf(value: string): number | undefined {
  const said = value.replaceAll(/\s+/g, '')
  // The comma is a thousands separator in 80,000 lbs and a decimal one in 7,5.
  const isLong = /^\d{1,3},\d{3}/.test(said) && /(?:kg|lbs?)$/.test(said)
  const text = isLong ? said.replaceAll(',', '') : said.replace(',', '.')
  const number = leadingNumber(text, true)
  if (number === undefined) return undefined
  const unit = text.replace(/^[0-9.]+/, '')
  return round2(number * (TONNES[unit] ?? 1))
}

function round2(value: number): number {
  return Math.floor(value * 100 + 0.5) / 100
}
