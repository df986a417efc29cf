import type { RasterInfo } from '../raster-info.ts'

/** A satellite product, from its name. */
export type Product = 'landsat' | 'hls-s30' | 'hls-l30' | 'sentinel-2' | 'planetscope'

/** Kinds of bands of a product other than reflectances. */
export type OtherBand =
  /** Bands in other units, with the profile for them. */
  | { readonly kind: 'measure'; readonly band: string; readonly profile: string }
  /** Flags, angles and auxiliary layers, which models do not accept. */
  | { readonly kind: 'auxiliary'; readonly band: string }

// USGS Landsat Collection 2 Level-2 product guides, LP DAAC HLS v2 user guide, ESA Sentinel-2 product specification, Planet UDM 2.
const PRODUCTS: readonly (readonly [Product, RegExp])[] = [
  ['sentinel-2', /(?:_MSI|\bS2MSI)(?:L1C|L2A|1C|2A)\b|_MSI(?:L1C|L2A)_/],
  ['hls-s30', /\bHLS\.S30\./],
  ['hls-l30', /\bHLS\.L30\./],
  ['landsat', /\bL[COTEM]0[1-9]_L[12][A-Z]{2}_/],
  ['planetscope', /_3B_|_AnalyticMS/],
]
const ANGLES = ['SAA', 'SZA', 'VAA', 'VZA']
const AUXILIARY: Readonly<Record<Product, readonly string[]>> = {
  landsat: [
    'QA_PIXEL',
    'QA_RADSAT',
    'SR_QA_AEROSOL',
    'SR_CLOUD_QA',
    'SR_ATMOS_OPACITY',
    'ST_QA',
    'ST_CDIST',
    'ST_ATRAN',
    'ST_DRAD',
    'ST_EMIS',
    'ST_EMSD',
    'ST_TRAD',
    'ST_URAD',
    ...ANGLES,
  ],
  'hls-s30': ['Fmask', ...ANGLES],
  'hls-l30': ['Fmask', ...ANGLES],
  'sentinel-2': ['SCL', 'QA10', 'QA20', 'QA60', 'AOT', 'WVP', 'CLDPRB', 'SNWPRB', 'MSK_CLDPRB', 'MSK_SNWPRB'],
  planetscope: ['udm', 'udm2', 'DN_udm'],
}
/** Bands in other units, with the profile of each. */
const MEASURES: Readonly<Partial<Record<Product, Readonly<Record<string, string>>>>> = {
  landsat: { ST_B6: 'landsat-c2-st', ST_B10: 'landsat-c2-st' },
  'hls-l30': { B10: 'hls-l30-thermal', B11: 'hls-l30-thermal' },
}

/** The product that a text names; null when it names none. */
export function productOf(text: string): Product | null {
  return PRODUCTS.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

/**
 * The kind of a band other than a reflectance, by its name; null for a reflectance or an unknown name.
 *
 * @param name name of a file with this band only, or the band's description
 */
export function otherBandOf(product: Product, name: string): OtherBand | null {
  const isNamed = (band: string): boolean =>
    new RegExp(String.raw`(?:^|[._\s])${band}(?=[._\s]|$)`, 'i').test(name) ||
    new RegExp(String.raw`(?:^|[._\s])${band}_(?:10|20|60)m(?=[._\s]|$)`, 'i').test(name)
  const measure = Object.entries(MEASURES[product] ?? {}).find(([band]) => isNamed(band))
  if (measure) return { kind: 'measure', band: measure[0], profile: measure[1] }
  const band = AUXILIARY[product].find(isNamed)
  return band === undefined ? null : { kind: 'auxiliary', band }
}

/** Whether a name denotes flags, angles or an auxiliary layer of the product of a profile. */
export function isAuxiliary(profile: string, name: string): boolean {
  const product = PRODUCTS.find(([id]) => profile.startsWith(id))?.[0]
  return product !== undefined && otherBandOf(product, name)?.kind === 'auxiliary'
}

/** Texts that may name the product of a raster: its file name and its tags. */
export function productText({ tags }: RasterInfo, fileName: string): string {
  return [fileName, ...Object.values(tags)].join('\n')
}
