import { Type, type Static } from 'typebox'

/** Maximum sources of one request. */
export const MAX_GEO_SOURCES = 10_000

/** A file in the storage of the project. */
export const storedFile = (description: string) =>
  Type.Object(
    { bucket: Type.String({ minLength: 1, maxLength: 100 }), path: Type.String({ minLength: 1, maxLength: 1024 }) },
    { additionalProperties: false, description },
  )
/** Name of a sensor profile. */
export const profile = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, description }))
/** Reference system, as `EPSG:` and a code. */
export const sourceSrs = (description: string) =>
  Type.Optional(Type.String({ pattern: '^EPSG:[0-9]{3,6}$', description }))
/** Time by RFC 3339. */
export const datetime = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$',
      description,
    }),
  )

const bandNumber = Type.Integer({ minimum: 1, maximum: 65_535, description: 'Band of the file, from 1.' })
const maskFields = {
  maskValues: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 0xffffffff }), {
      maxItems: 256,
      description:
        'Values of pixels that are left out. Default, without maskBits: those of clouds, shadows and no data of SCL, QA_PIXEL and Fmask, by the name of file or asset.',
    }),
  ),
  maskBits: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 30 }), {
      maxItems: 31,
      description: 'Bits of flags, from 0: a pixel with one of them set is left out.',
    }),
  ),
}

/** One file of a raster whose bands are in separate files. */
const SceneAsset = Type.Object(
  {
    geotiffPath: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4000, description: 'As for the request. This, or a file in storage.' }),
    ),
    storagePath: Type.Optional(storedFile('A GeoTIFF in the storage of the project.')),
    band: Type.Optional(bandNumber),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Name of the band: of the agency, or its common name.',
      }),
    ),
    scale: Type.Optional(Type.Number({ description: 'Physical value = stored value · scale + offset.' })),
    offset: Type.Optional(Type.Number()),
    nodata: Type.Optional(Type.Number({ description: 'Stored value of no data, where the file names none.' })),
  },
  { additionalProperties: false },
)

/** Maximum assets of one raster. */
const MAX_ASSETS = 64

/** `assets`: one raster of many files. */
export const assets = () =>
  Type.Optional(
    Type.Union(
      [
        Type.Record(Type.String({ minLength: 1, maxLength: 200 }), Type.String({ minLength: 1, maxLength: 4000 }), {
          minProperties: 1,
          maxProperties: MAX_ASSETS,
        }),
        Type.Array(SceneAsset, { minItems: 1, maxItems: MAX_ASSETS }),
      ],
      {
        description:
          'One raster of many files, brought to the grid of the smallest pixels: {"B04": address, "B08": address}, in the order of the names, or a list of files in the order of the bands.',
      },
    ),
  )
/** `mask`: a file that determines which pixels are left out. */
export const mask = () =>
  Type.Optional(
    Type.Object(
      {
        geotiffPath: Type.Optional(
          Type.String({ minLength: 1, maxLength: 4000, description: 'This, or a file in storage.' }),
        ),
        storagePath: Type.Optional(storedFile('A GeoTIFF in the storage of the project.')),
        band: Type.Optional(bandNumber),
        ...maskFields,
      },
      {
        additionalProperties: false,
        description: 'With assets: a file of classes or flags that says which pixels are left out.',
      },
    ),
  )
/** `resampling` of assets with larger pixels. */
export const resampling = () =>
  Type.Optional(
    Type.Enum(['bilinear', 'nearest'], {
      default: 'bilinear',
      description:
        'How assets with larger pixels are brought to the grid. Where grids agree pixels are taken as they are. A VRT says it of each of its sources.',
    }),
  )

/** One raster of many. */
export const GeoSource = Type.Object(
  {
    geotiffPath: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4000, description: 'As for the request. This, or a file in storage.' }),
    ),
    storagePath: Type.Optional(storedFile('A GeoTIFF in the storage of the project.')),
    assets: assets(),
    mask: mask(),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Name of the source. Default: its address.',
      }),
    ),
    datetime: datetime('When this imagery was taken. Default: datetime of the request.'),
    profile: profile('As for the request, which it takes the place of.'),
    sourceSrs: sourceSrs('As for the request, which it takes the place of.'),
  },
  { additionalProperties: false },
)
export type GeoSource = Static<typeof GeoSource>

/** Rasters by STAC items. */
export const StacSources = Type.Object(
  {
    items: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'A STAC Item, or an ItemCollection such as the answer of a search. One of this, url and storagePath.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4000,
        description:
          'Where the Item or the ItemCollection lies, or the search of an API. Further pages are read by their next links.',
      }),
    ),
    storagePath: Type.Optional(storedFile('The Item or the ItemCollection in the storage of the project.')),
    search: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Body of POST to url, which is the search of a STAC API: collections, bbox, datetime, query and the like.',
      }),
    ),
    maxItems: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_GEO_SOURCES,
        description: 'Items that are taken of an answer of many pages. Default: all; more than 10,000 are refused.',
      }),
    ),
    asset: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'As assets, of one.' })),
    assets: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        minItems: 1,
        maxItems: MAX_ASSETS,
        description:
          'Names of assets or bands, common names, roles or numbers of bands, in the order of the bands. Default: the only GeoTIFF of an item, else the bands that the model takes.',
      }),
    ),
    maskAsset: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Asset of classes or flags, such as scl or qa_pixel.' }),
    ),
    ...maskFields,
  },
  { additionalProperties: false, description: 'Rasters by STAC items, each with the time of its item.' },
)
