/** A band of a sensor. */
export interface ProfileBand {
  /** Name used by the agency. */
  readonly name: string
  /** `eo:common_name` of STAC, or the polarisation of a radar. */
  readonly common: string
  /** Center of the band in nanometers; null for radar. */
  readonly wavelength: number | null
}

/** Meaning of the stored numbers of a sensor's product. */
export interface SensorProfile {
  readonly id: string
  readonly title: string
  readonly unit: 'reflectance' | 'decibel' | 'byte' | 'kelvin' | 'celsius'
  /** Physical = stored · scale + offset; for radar: power, before the logarithm. */
  readonly scale: number
  readonly offset: number
  /** The stored value for "no data" if the file names none. */
  readonly nodata: number | null
  readonly bands: readonly ProfileBand[]
  /** Orders of bands in files without names, by their number of bands. */
  readonly layouts: readonly (readonly string[])[]
}

const band = (name: string, common: string, wavelength: number | null): ProfileBand => ({ name, common, wavelength })

// Centers in nm: ESA's Sentinel-2 MSI guide (S2A), USGS Landsat 8-9 C2 handbook, LP DAAC's HLS v2 guide, Planet's PSB.SD.
const SENTINEL_2 = [
  band('B01', 'coastal', 443),
  band('B02', 'blue', 492),
  band('B03', 'green', 560),
  band('B04', 'red', 665),
  band('B05', 'rededge071', 704),
  band('B06', 'rededge075', 740),
  band('B07', 'rededge078', 783),
  band('B08', 'nir', 833),
  band('B8A', 'nir08', 865),
  band('B09', 'nir09', 945),
  band('B10', 'cirrus', 1374),
  band('B11', 'swir16', 1614),
  band('B12', 'swir22', 2202),
]
const S2_ALL = SENTINEL_2.map(({ name }) => name)
/** Level 2A has no cirrus band. */
const S2_SURFACE = S2_ALL.filter((name) => name !== 'B10')

const LANDSAT = [
  band('SR_B1', 'coastal', 443),
  band('SR_B2', 'blue', 482),
  band('SR_B3', 'green', 561),
  band('SR_B4', 'red', 655),
  band('SR_B5', 'nir08', 865),
  band('SR_B6', 'swir16', 1609),
  band('SR_B7', 'swir22', 2201),
]

/** Thematic Mapper and ETM+. */
const LANDSAT_TM = [
  band('SR_B1', 'blue', 485),
  band('SR_B2', 'green', 560),
  band('SR_B3', 'red', 660),
  band('SR_B4', 'nir08', 830),
  band('SR_B5', 'swir16', 1650),
  band('SR_B7', 'swir22', 2215),
]

const HLS_L30 = [
  ...LANDSAT.slice(0, 5).map((b, i) => ({ ...b, name: `B0${i + 1}` })),
  band('B06', 'swir16', 1609),
  band('B07', 'swir22', 2201),
  band('B09', 'cirrus', 1374),
]

/** MOD09 user guide, version 6.1, table 1; centers of the land bands. */
const MODIS = [
  band('sur_refl_b01', 'red', 645),
  band('sur_refl_b02', 'nir08', 858),
  band('sur_refl_b03', 'blue', 469),
  band('sur_refl_b04', 'green', 555),
  band('sur_refl_b05', 'nir12', 1240),
  band('sur_refl_b06', 'swir16', 1640),
  band('sur_refl_b07', 'swir22', 2130),
]

const PLANET_4 = ['blue', 'green', 'red', 'nir']
const PLANET_8 = ['coastal_blue', 'blue', 'green_i', 'green', 'yellow', 'red', 'rededge', 'nir']

const dn = (id: string, title: string, offset: number, layouts: SensorProfile['layouts']): SensorProfile => ({
  id,
  title,
  unit: 'reflectance',
  scale: 1e-4,
  offset,
  nodata: 0,
  bands: SENTINEL_2,
  layouts,
})

/** The profiles; a request chooses one by id as `profile`. */
export const SENSOR_PROFILES: readonly SensorProfile[] = [
  dn('sentinel-2-l1c', 'Sentinel-2 L1C, processing baseline before 04.00', 0, [S2_ALL]),
  dn('sentinel-2-l1c-offset', 'Sentinel-2 L1C, processing baseline 04.00 or later', -0.1, [S2_ALL]),
  dn('sentinel-2-l2a', 'Sentinel-2 L2A, baseline before 04.00 or offset subtracted', 0, [S2_SURFACE]),
  dn('sentinel-2-l2a-offset', 'Sentinel-2 L2A, processing baseline 04.00 or later', -0.1, [S2_SURFACE]),
  {
    id: 'landsat-8-9-c2-l2',
    title: 'Landsat 8 and 9, Collection 2 surface reflectance',
    unit: 'reflectance',
    scale: 2.75e-5,
    offset: -0.2,
    nodata: 0,
    bands: LANDSAT,
    layouts: [LANDSAT.map(({ name }) => name)],
  },
  {
    id: 'landsat-4-7-c2-l2',
    title: 'Landsat 4 to 7, Collection 2 surface reflectance',
    unit: 'reflectance',
    scale: 2.75e-5,
    offset: -0.2,
    nodata: 0,
    bands: LANDSAT_TM,
    layouts: [LANDSAT_TM.map(({ name }) => name)],
  },
  {
    id: 'landsat-c2-st',
    title: 'Landsat 4 to 9, Collection 2 surface temperature',
    unit: 'kelvin',
    scale: 0.00341802,
    offset: 149,
    nodata: 0,
    bands: [band('ST_B10', 'lwir11', 10_895), band('ST_B6', 'lwir', 11_450)],
    layouts: [['ST_B10']],
  },
  {
    id: 'hls-l30-thermal',
    title: 'Harmonized Landsat Sentinel-2, L30, brightness temperature',
    unit: 'celsius',
    scale: 0.01,
    offset: 0,
    nodata: -9999,
    bands: [band('B10', 'lwir11', 10_895), band('B11', 'lwir12', 12_005)],
    layouts: [['B10', 'B11']],
  },
  {
    id: 'hls-s30',
    title: 'Harmonized Landsat Sentinel-2, S30',
    unit: 'reflectance',
    scale: 1e-4,
    offset: 0,
    nodata: -9999,
    bands: SENTINEL_2,
    layouts: [S2_ALL],
  },
  {
    id: 'hls-l30',
    title: 'Harmonized Landsat Sentinel-2, L30',
    unit: 'reflectance',
    scale: 1e-4,
    offset: 0,
    nodata: -9999,
    bands: HLS_L30,
    layouts: [],
  },
  {
    id: 'planetscope-sr',
    title: 'PlanetScope surface reflectance',
    unit: 'reflectance',
    scale: 1e-4,
    offset: 0,
    nodata: 0,
    bands: [
      band('coastal_blue', 'coastal', 443),
      band('blue', 'blue', 490),
      band('green_i', 'green05', 531),
      band('green', 'green', 565),
      band('yellow', 'yellow', 610),
      band('red', 'red', 665),
      band('rededge', 'rededge071', 705),
      band('nir', 'nir', 865),
    ],
    layouts: [PLANET_4, PLANET_8],
  },
  {
    id: 'skysat-sr',
    title: 'SkySat surface reflectance',
    unit: 'reflectance',
    scale: 1e-4,
    offset: 0,
    nodata: 0,
    bands: [band('blue', 'blue', 480), band('green', 'green', 555), band('red', 'red', 650), band('nir', 'nir', 820)],
    layouts: [PLANET_4],
  },
  {
    id: 'modis-09',
    title: 'MODIS surface reflectance (MOD09, MYD09)',
    unit: 'reflectance',
    scale: 1e-4,
    offset: 0,
    nodata: -28_672,
    bands: MODIS,
    layouts: [MODIS.map(({ name }) => name)],
  },
  {
    id: 'reflectance',
    title: 'Reflectance as floating point, 0 to 1',
    unit: 'reflectance',
    scale: 1,
    offset: 0,
    nodata: null,
    bands: [],
    layouts: [],
  },
  {
    id: 'sentinel-1-rtc',
    title: 'Sentinel-1 terrain-corrected backscatter, linear power',
    unit: 'decibel',
    scale: 1,
    offset: 0,
    nodata: 0,
    bands: [band('VV', 'vv', null), band('VH', 'vh', null)],
    layouts: [['VV', 'VH']],
  },
  {
    id: 'naip',
    title: 'NAIP aerial imagery',
    unit: 'byte',
    scale: 1,
    offset: 0,
    nodata: null,
    bands: [band('red', 'red', 650), band('green', 'green', 560), band('blue', 'blue', 460), band('nir', 'nir', 860)],
    layouts: [
      ['red', 'green', 'blue', 'nir'],
      ['red', 'green', 'blue'],
    ],
  },
  {
    id: 'rgb',
    title: 'Bytes as a screen shows them',
    unit: 'byte',
    scale: 1,
    offset: 0,
    nodata: null,
    bands: [band('red', 'red', null), band('green', 'green', null), band('blue', 'blue', null)],
    layouts: [['red', 'green', 'blue']],
  },
]

/**
 * Physical values that become 0 and 1 for a model with inputs in [0, 1]: typical dark and bright ground in each part of
 * the spectrum.
 */
export function profileRange({ unit }: SensorProfile, common: string | null): readonly [number, number] {
  if (unit === 'byte') return [0, 255]
  if (unit === 'decibel') return [-30, 0]
  if (unit === 'kelvin') return [230, 330]
  if (unit === 'celsius') return [-40, 60]
  return common !== null && /^(nir|rededge|swir)/.test(common) ? [0, 0.6] : [0, 0.35]
}
