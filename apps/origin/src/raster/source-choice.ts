import type { PixelSelection } from '@terrane/tiling/raster'
import { badParameter } from './errors.ts'
import { integer, oneOf, truth } from './parameters.ts'

/** Order of a table's sources; the first is on top. */
export type SourceOrder = 'newest' | 'oldest' | 'cloud' | 'number'

/** Which files of a source are drawn. */
export interface SourceChoice {
  /** For a STAC item: names of assets or bands, common names, roles or numbers; null when none is given. */
  readonly assets: readonly string[] | null
  /** Numbers of an asset's bands from 1, by its name: `asset_bidx=B01|1,2`, or `assets=B01|bidx=1,2`. */
  readonly assetBands: ReadonlyMap<string, readonly number[]>
  readonly order: SourceOrder
  /** Whether the order is turned around. */
  readonly isReversed: boolean
  readonly selection: PixelSelection
  /** Inclusive, RFC 3339. */
  readonly since: string | null
  readonly until: string | null
  /** Numbers of sources; null for all. */
  readonly sources: readonly number[] | null
}

const ORDERS = ['newest', 'oldest', 'cloud', 'number'] as const
const SELECTIONS = ['first', 'highest', 'lowest', 'mean'] as const
/** Maximum number of assets or sources that a request names. */
export const MAX_NAMES = 64

/** `assets` and `asset_bidx` of a STAC item; `order`, `reverse`, `pixel_selection`, `since`, `until` and `sources` of a table. @throws BAD_PARAMETER */
export function readSourceChoice(query: URLSearchParams): SourceChoice {
  const assetBands = new Map(query.getAll('asset_bidx').map((text) => bandsOfAsset('asset_bidx', text, '|')))
  const assets = query.getAll('assets').flatMap((text) => {
    if (!text.includes('|')) return text.split(',')
    const [name, bands] = bandsOfAsset('assets', text, '|bidx=')
    assetBands.set(name, bands)
    return [name]
  })
  if (assets.length > MAX_NAMES || assets.includes('')) {
    throw badParameter({
      name: 'assets',
      value: assets.join(',').slice(0, 100),
      wanted: `1 to ${MAX_NAMES} names are wanted`,
    })
  }
  const sources = query.get('sources')?.split(',')
  return {
    assets: assets.length === 0 ? null : assets,
    assetBands,
    order: oneOf('order', query.get('order') ?? 'newest', ORDERS),
    isReversed: truth('reverse', query.get('reverse') ?? 'false'),
    selection: oneOf('pixel_selection', query.get('pixel_selection') ?? 'first', SELECTIONS),
    since: timeOf('since', query.get('since')),
    until: timeOf('until', query.get('until')),
    sources: sources?.map((text) => integer('sources', text, 0, 2_097_151)) ?? null,
  }
}

/** A choice with a single asset. */
export function choiceOfAsset(choice: SourceChoice, asset: string): SourceChoice {
  const bands = choice.assetBands.get(asset)
  return { ...choice, assets: [asset], assetBands: new Map(bands ? [[asset, bands]] : []) }
}

/** An asset and the numbers of its bands. @throws BAD_PARAMETER */
function bandsOfAsset(name: string, text: string, mark: '|' | '|bidx='): readonly [string, readonly number[]] {
  const at = text.lastIndexOf(mark)
  const numbers = at === -1 ? [] : text.slice(at + mark.length).split(',')
  if (at > 0 && numbers.length <= MAX_NAMES) {
    return [text.slice(0, at), numbers.map((number) => integer(name, number, 1, 65_535))]
  }
  throw badParameter({
    name,
    value: text.slice(0, 100),
    wanted: `an asset and its bands, such as B01${mark}1,2, is wanted`,
  })
}

/** A date means the beginning of its day for `since`, and its end for `until`, in UTC. Microseconds are kept. */
function timeOf(name: 'since' | 'until', text: string | null): string | null {
  if (text === null) return null
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const full = isDay ? `${text}T${name === 'since' ? '00:00:00' : '23:59:59.999999'}Z` : text
  const time = new Date(full)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) {
    throw badParameter({
      name,
      value: text.slice(0, 40),
      wanted: 'a date or a time such as 2025-06-01T10:00:00Z is wanted',
    })
  }
  const [, finer = ''] = /\.\d{3}(\d{1,3})/.exec(full) ?? []
  return time.toISOString().replace('Z', `${finer}Z`)
}
