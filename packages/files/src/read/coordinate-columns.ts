/** Words for the two axes, without diacritics and in lower case: for degrees, and for projected coordinates. */
const WORDS = {
  degrees: {
    x: [
      'lon',
      'lng',
      'long',
      'longitude',
      'longitud',
      'longitudine',
      'langengrad',
      'laengengrad',
      'lengtegraad',
    ].concat([
      'lengdegrad',
      'laengdegrad',
      'langdgrad',
      'pituusaste',
      'boylam',
      'долгота',
      '经度',
      '經度',
      '経度',
      '경도',
    ]),
    y: ['lat', 'latitude', 'latitud', 'latitudine', 'breitengrad', 'breedtegraad', 'breddegrad', 'breddgrad'].concat([
      'leveysaste',
      'enlem',
      'широта',
      '纬度',
      '緯度',
      '위도',
    ]),
  },
  plane: {
    x: ['x', 'easting', 'eastings', 'rechtswert', 'ostwert'],
    y: ['y', 'northing', 'northings', 'hochwert', 'nordwert'],
  },
} as const
/** Words that are long enough to be recognised within another, as in `decimalLatitude` and `stoplatitude`. */
const WITHIN = { longitude: 'x', latitude: 'y' } as const

export interface Columns {
  /** Numbers of the columns. */
  readonly x: number
  readonly y: number
}

/**
 * The two columns that hold coordinates: the named ones, or else two with usual names. These are `lon` and `lat` in
 * several languages, or else `x` and `y`, alone or with the same other words (`stop_lat`, `stop_lon`; `POINT_X`,
 * `POINT_Y`). A pair without other words is preferred.
 *
 * @returns the pair; or the names that look like coordinates, if no pair is clear or a named column does not exist
 */
export function coordinateColumns(
  names: readonly string[],
  wanted: { readonly x?: string | undefined; readonly y?: string | undefined } = {},
): Columns | { readonly doubtful: readonly string[] } {
  const axes = names.map(axisOf)
  if ((wanted.x ?? wanted.y) !== undefined) {
    const [x, y] = (['x', 'y'] as const).map((axis) => {
      const name = wanted[axis]?.toLowerCase()
      return names.findIndex((own, i) => (name === undefined ? axes[i]?.axis === axis : own.toLowerCase() === name))
    }) as [number, number]
    return x >= 0 && y >= 0 ? { x, y } : { doubtful: [] }
  }
  for (const family of ['degrees', 'plane'] as const) {
    const pairs = new Map<string, { x: number; y: number }>()
    for (const [i, axis] of axes.entries()) {
      if (axis?.family !== family) continue
      const pair = pairs.get(axis.rest) ?? { x: -1, y: -1 }
      if (pair[axis.axis] < 0) pair[axis.axis] = i
      pairs.set(axis.rest, pair)
    }
    const whole = [...pairs].filter(([, { x, y }]) => x >= 0 && y >= 0)
    const chosen = whole.find(([rest]) => rest === '') ?? (whole.length === 1 ? whole[0] : undefined)
    if (chosen) return chosen[1]
    if (whole.length > 1) break
  }
  // Without a latitude, `long` is the adjective, as in `route_long_name`.
  const hasY = axes.some((axis) => axis?.axis === 'y')
  return { doubtful: names.filter((name, i) => axes[i] !== null && (hasY || !wordsOf(name).includes('long'))) }
}

/** Whether columns have names of longitude and latitude, which are used for nothing else. */
export function areDegrees(names: readonly string[], { x, y }: Columns): boolean {
  return [x, y].every((i) => axisOf(names[i]!)?.family === 'degrees')
}

/** The axis in a name, and the other words of the name. */
function axisOf(name: string): { family: 'degrees' | 'plane'; axis: 'x' | 'y'; rest: string } | null {
  const words = wordsOf(name)
  for (const family of ['degrees', 'plane'] as const) {
    for (const axis of ['x', 'y'] as const) {
      const at = words.findIndex((word) => (WORDS[family][axis] as readonly string[]).includes(word))
      if (at >= 0) return { family, axis, rest: words.filter((_, i) => i !== at).join(' ') }
    }
  }
  const whole = words.join('')
  for (const [word, axis] of Object.entries(WITHIN)) {
    if (whole.includes(word)) return { family: 'degrees', axis, rest: whole.replace(word, ' ').trim() }
  }
  return null
}

/** Splits a name into words: `decimalLatitude` and `Decimal latitude (°)` give the same two. */
function wordsOf(name: string): string[] {
  const plain = name.normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC')
  const apart = plain.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').toLowerCase()
  return apart.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
}
