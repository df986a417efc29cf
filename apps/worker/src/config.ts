import { PROVIDERS } from '@terrane/embeddings'
import { AwsVariables, Setting, readSettings, type Config } from '@terrane/service'
import { Type } from 'typebox'

const variables = {
  PORT: Setting.Port(3333),
  DATABASE_URL: Setting.Secret('PostgreSQL of the jobs; in local mode also of the project.'),
  DATABASE_POOL_SIZE: Setting.PoolSize(10, 2),
  TERRANE_MODE: Type.Enum(['local', 'shared'], { default: 'local', description: 'One project, or a pool for many.' }),
  TERRANE_PROJECT_REF: Setting.ProjectRef('Local mode: the project.'),
  TERRANE_SERVICE_ROLE_KEY: Type.Optional(
    Setting.Secret('Local mode: the key that callers of the project send; accepted from start on.'),
  ),
  TERRANE_JWT_SECRET: Type.Optional(Setting.Secret('Local mode: verifies service-role tokens.', 32)),
  TERRANE_SERVICES_KEY: Type.Optional(
    Setting.Secret('Local mode: the Services API key that callers of the stack send; accepted from start on.', 16),
  ),
  TERRANE_FUNCTIONS_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'Local mode: base URL of the functions host, for events that call functions.',
    }),
  ),
  TERRANE_SECRETS_KEY: Type.Optional(
    Setting.Secret('32 bytes as hex or base64; seals inputs and credentials. Required in shared mode.'),
  ),
  TERRANE_ALLOW_PROJECT_TARGET: Type.Boolean({
    default: false,
    description: 'Shared mode: accept credentials in projectTarget.',
  }),
  TERRANE_STORAGE: Setting.Storage(),
  ...AwsVariables,
  TERRANE_DATA_ROOTS: Setting.List('Folders whose files geotiffPath may name, comma-separated.'),
  TERRANE_WORK_DIR: Type.String({ default: '.terrane/work', description: 'Temporary files of running jobs.' }),
  TERRANE_FETCH_ALLOW_HOSTS: Setting.List(
    'Hosts (name or name:port) that may be private and speak http, comma-separated.',
  ),
  TERRANE_FETCH_ALLOW_HTTP: Type.Boolean({ default: false, description: 'Accept http URLs of public hosts.' }),
  TERRANE_WORKER_CONCURRENCY: Setting.Count(1, [0, 64], 'Jobs of one task at once; 0 runs none (API only).'),
  TERRANE_PROJECT_CONCURRENCY: Setting.Count(1, [1, 64], 'Jobs of one task and project at once, over all workers.'),
  TERRANE_OSM_SOURCE: Type.String({
    default: 'geofabrik',
    description:
      'osmImportArea and createSraiEmbeddings without a source: geofabrik, overpass, files or URLs of extracts, separated by commas; the first one that meets the area.',
  }),
  TERRANE_OSM_MEMORY_MB: Setting.Count(
    0,
    0,
    'OpenStreetMap: memory of a job for nodes (10 bytes each) and ways that are referred to; the rest goes to its folder. A change file may take as much, and half of the heap. 0 = half of what is free when the job starts.',
  ),
  TERRANE_OVERPASS_URL: Type.String({
    default: '',
    description: 'URL of an Overpass API (its `interpreter`) for areas up to 25 km²; empty disables it.',
  }),
  TERRANE_GEOCODER_URL: Type.String({
    default: '',
    pattern: '^(https?://.*)?$',
    description:
      'Places by name: search address of a Nominatim server, with parameters such as email if it wants them; none when empty.',
  }),
  TERRANE_OGR2OGR: Type.String({
    default: '',
    description: 'ogr2ogrImport: path of an installed ogr2ogr; the built-in engine when empty.',
  }),
  TERRANE_CACHE_DIR: Type.String({ default: '.terrane/cache', description: 'Downloads that are kept for later jobs.' }),
  GEOEMBEDDINGS_MAX_TILES: Setting.Count(10_000, 0, 'createGeoEmbeddings: most tiles of one raster; 0 = no limit.'),
  GEOEMBEDDINGS_MAX_GEOTIFF_BYTES: Setting.Count(104_857_600, 0, 'createGeoEmbeddings: largest file; 0 = no limit.'),
  TERRANE_TILER_MEMORY_MB: Setting.Count(
    256,
    16,
    'archiveToPmtiles: memory of a job for features and tiles; the rest goes to its folder.',
  ),
  TERRANE_MODEL_DIR: Type.String({ default: '.terrane/models', description: 'Weights and manifests of models.' }),
  TERRANE_MODEL_DOWNLOAD: Type.Boolean({ default: true, description: 'Download weights on first use.' }),
  TERRANE_INFERENCE_MEMORY_MB: Setting.Count(4096, 256, 'Memory that inference may use.'),
  TERRANE_INFERENCE_THREADS: Setting.Count(0, [0, 256], 'Cores for inference; 0 = all.'),
  TERRANE_INFERENCE_PROVIDERS: Type.String({
    default: 'cpu',
    pattern: `^(${PROVIDERS.join('|')})(,(${PROVIDERS.join('|')}))*$`,
    description: `ONNX execution providers in order of preference, comma-separated: ${PROVIDERS.join(', ')}. Falls back to the CPU.`,
  }),
  HF_TOKEN: Type.Optional(Setting.Secret('Token for model downloads.')),
}

const file = {
  jobRetentionDays: Setting.Count(
    30,
    1,
    'Maximum age of ended jobs and their logs, in days.',
    'TERRANE_JOB_RETENTION_DAYS',
  ),
  minScheduleMinutes: Setting.Count(5, 1, 'Minimum interval of a schedule.', 'TERRANE_SCHEDULE_MIN_MINUTES'),
  bodyLimitBytes: Setting.Count(10_485_760, 1024, 'Maximum request body.', 'TERRANE_BODY_LIMIT_BYTES'),
  maxAreaKm2: Type.Number({
    default: 1_000_000,
    minimum: 0,
    description: 'Imports and region embeddings: maximum area; 0 = no limit.',
    formerly: 'TERRANE_MAX_AOI_KM2',
  }),
  maxAreaVertices: Setting.Count(
    50_000,
    4,
    'Imports and region embeddings: maximum positions of an area.',
    'TERRANE_MAX_AOI_VERTICES',
  ),
  maxH3Cells: Setting.Count(500_000, 0, 'createSraiEmbeddings: maximum cells; 0 = no limit.', 'TERRANE_MAX_H3_CELLS'),
  maxPatches: Setting.Count(
    2_560_000,
    0,
    'createGeoEmbeddings at level patch and importEmbeddings: maximum rows of one file; 0 = no limit.',
    'GEOEMBEDDINGS_MAX_PATCHES',
  ),
  maxImportBytes: Setting.Count(
    1_073_741_824,
    1,
    'ogr2ogrImport: maximum file; an archive may hold four times as much.',
    'TERRANE_IMPORT_MAX_BYTES',
  ),
  maxOsmBytes: Setting.Count(8_589_934_592, 1, 'OpenStreetMap: maximum extract to download.', 'TERRANE_OSM_MAX_BYTES'),
  maxOsmNodes: Setting.Count(
    0,
    0,
    'OpenStreetMap: maximum nodes of an extract; 0 = as many as memory and the work folder hold.',
    'TERRANE_OSM_MAX_NODES',
  ),
  maxCacheBytes: Setting.Count(21_474_836_480, 0, 'Maximum size of all kept extracts.', 'TERRANE_CACHE_MAX_BYTES'),
  geofabrikUrl: Type.String({
    default: 'https://download.geofabrik.de',
    description: 'Server of extracts with an index-v1.json.',
    formerly: 'TERRANE_GEOFABRIK_URL',
  }),
  overtureCatalogueUrl: Type.String({
    default: 'https://stac.overturemaps.org/catalog.json',
    description: 'overtureImportArea: STAC catalogue of the releases.',
    formerly: 'TERRANE_OVERTURE_STAC_URL',
  }),
  openSchemas: Setting.Texts(
    [],
    'Schemas of projects, besides public, that ogr2ogrImport may put tables into and archiveToPmtiles may read.',
    'TERRANE_OPEN_SCHEMAS',
  ),
  allowUnpinnedModels: Type.Boolean({
    default: false,
    description: 'Use model files whose checksums are not pinned.',
    formerly: 'TERRANE_MODEL_ALLOW_UNPINNED',
  }),
  crsFile: Type.Optional(
    Type.String({ description: 'JSON file with further CRS definitions.', formerly: 'TERRANE_CRS_FILE' }),
  ),
}

/** The worker's settings; docs/settings.md and `.env.example` are written from them. */
export const settings = { app: 'worker', variables, file }
export type WorkerConfig = Config<typeof settings>

/** The worker's configuration. @throws INVALID_CONFIG with every problem */
export function readConfig(env: Readonly<Record<string, string | undefined>>): WorkerConfig {
  return readSettings(settings, env)
}
