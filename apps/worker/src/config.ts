import { PROJECT_REF_PATTERN } from '@terrane/contracts/names'
import { ControlEnv, TokenEnv } from '@terrane/control'
import { PROVIDERS } from '@terrane/embeddings'
import { AwsEnv, List, Secret, ServiceEnv, readEnv } from '@terrane/service'
import { Type, type Static } from 'typebox'

/** Every variable of the worker; the operations page and `.env.example` are written from it. */
export const Env = Type.Object({
  ...ServiceEnv,
  PORT: Type.Integer({ default: 3333, minimum: 0, maximum: 65_535, description: 'Port to listen on.' }),
  DATABASE_URL: Secret('PostgreSQL of the jobs; in local mode also of the project.'),
  DATABASE_POOL_SIZE: Type.Integer({
    default: 10,
    minimum: 2,
    maximum: 200,
    description: 'Connections of this process.',
  }),
  TERRANE_MODE: Type.Enum(['local', 'shared'], { default: 'local', description: 'One project, or a pool for many.' }),
  TERRANE_PROJECT_REF: Type.String({
    default: 'local',
    pattern: PROJECT_REF_PATTERN,
    description: 'Local mode: the project.',
  }),
  TERRANE_SERVICE_ROLE_KEY: Type.Optional(
    Secret('Local mode: the key that callers of the project send; accepted from start on.'),
  ),
  TERRANE_JWT_SECRET: Type.Optional(Secret('Local mode: verifies service-role tokens.', 32)),
  TERRANE_SERVICES_KEY: Type.Optional(
    Secret('Local mode: the Services API key that callers of the stack send; accepted from start on.', 16),
  ),
  ...ControlEnv,
  ...TokenEnv,
  TERRANE_SECRETS_KEY: Type.Optional(
    Secret('32 bytes as hex or base64; seals inputs and credentials. Required in shared mode.'),
  ),
  TERRANE_ALLOW_PROJECT_TARGET: Type.Boolean({
    default: false,
    description: 'Shared mode: accept credentials in projectTarget.',
  }),
  TERRANE_STORAGE: Type.String({
    default: 'file:.terrane/storage',
    description: 'file:{folder} or s3://{bucket}/{prefix}.',
  }),
  ...AwsEnv,
  TERRANE_DATA_ROOTS: List('Folders whose files geotiffPath may name, comma-separated.'),
  TERRANE_OPEN_SCHEMAS: List(
    'Schemas of projects, besides public, that ogr2ogrImport may put tables into and archiveToPmtiles may read, comma-separated.',
  ),
  TERRANE_WORK_DIR: Type.String({ default: '.terrane/work', description: 'Temporary files of running jobs.' }),
  TERRANE_FETCH_ALLOW_HOSTS: List('Hosts (name or name:port) that may be private and speak http, comma-separated.'),
  TERRANE_FETCH_ALLOW_HTTP: Type.Boolean({ default: false, description: 'Accept http URLs of public hosts.' }),
  TERRANE_WORKER_CONCURRENCY: Type.Integer({
    default: 1,
    minimum: 0,
    maximum: 64,
    description: 'Jobs of one task at once; 0 runs none (API only).',
  }),
  TERRANE_PROJECT_CONCURRENCY: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 64,
    description: 'Jobs of one task and project at once, over all workers.',
  }),
  TERRANE_JOB_RETENTION_DAYS: Type.Integer({ default: 30, minimum: 1, description: 'How long ended jobs are kept.' }),
  TERRANE_SCHEDULE_MIN_MINUTES: Type.Integer({
    default: 5,
    minimum: 1,
    description: 'Least time between two times of a schedule.',
  }),
  TERRANE_BODY_LIMIT_BYTES: Type.Integer({ default: 10_485_760, minimum: 1024, description: 'Largest request body.' }),
  TERRANE_MAX_H3_CELLS: Type.Integer({
    default: 500_000,
    minimum: 0,
    description: 'createSraiEmbeddings: most cells; 0 = no limit.',
  }),
  TERRANE_MAX_AOI_KM2: Type.Number({
    default: 1_000_000,
    minimum: 0,
    description: 'Imports and region embeddings: largest area; 0 = no limit.',
  }),
  TERRANE_MAX_AOI_VERTICES: Type.Integer({
    default: 50_000,
    minimum: 4,
    description: 'Imports and region embeddings: most positions of an area.',
  }),
  TERRANE_OSM_SOURCE: Type.String({
    default: 'geofabrik',
    description:
      'osmImportArea and createSraiEmbeddings without a source: geofabrik, overpass, files or URLs of extracts, separated by commas; the first one that meets the area.',
  }),
  TERRANE_OSM_MAX_BYTES: Type.Integer({
    default: 8_589_934_592,
    minimum: 1,
    description: 'OpenStreetMap: largest extract to download.',
  }),
  TERRANE_OSM_MAX_NODES: Type.Integer({
    default: 0,
    minimum: 0,
    description: 'OpenStreetMap: most nodes of an extract; 0 = as many as memory and the work folder hold.',
  }),
  TERRANE_OSM_MEMORY_MB: Type.Integer({
    default: 0,
    minimum: 0,
    description:
      'OpenStreetMap: memory of a job for nodes (10 bytes each) and ways that are referred to; the rest goes to its folder. 0 = half of what is free when the job starts.',
  }),
  TERRANE_GEOFABRIK_URL: Type.String({
    default: 'https://download.geofabrik.de',
    description: 'Server of extracts with an index-v1.json.',
  }),
  TERRANE_OVERPASS_URL: Type.String({
    default: '',
    description: 'Interpreter of an Overpass server for areas up to 25 km²; none when empty.',
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
  TERRANE_IMPORT_MAX_BYTES: Type.Integer({
    default: 1_073_741_824,
    minimum: 1,
    description: 'ogr2ogrImport: largest file; an archive may hold four times as much.',
  }),
  TERRANE_OVERTURE_STAC_URL: Type.String({
    default: 'https://stac.overturemaps.org/catalog.json',
    description: 'overtureImportArea: STAC catalogue of the releases.',
  }),
  TERRANE_CACHE_DIR: Type.String({ default: '.terrane/cache', description: 'Downloads that are kept for later jobs.' }),
  TERRANE_CACHE_MAX_BYTES: Type.Integer({
    default: 21_474_836_480,
    minimum: 0,
    description: 'Most bytes of kept extracts.',
  }),
  GEOEMBEDDINGS_MAX_TILES: Type.Integer({
    default: 10_000,
    minimum: 0,
    description: 'createGeoEmbeddings: most tiles of one raster; 0 = no limit.',
  }),
  GEOEMBEDDINGS_MAX_PATCHES: Type.Integer({
    default: 2_560_000,
    minimum: 0,
    description: 'createGeoEmbeddings at level patch: most patches of one raster; 0 = no limit.',
  }),
  GEOEMBEDDINGS_MAX_GEOTIFF_BYTES: Type.Integer({
    default: 104_857_600,
    minimum: 0,
    description: 'createGeoEmbeddings: largest file; 0 = no limit.',
  }),
  TERRANE_TILER_MEMORY_MB: Type.Integer({
    default: 256,
    minimum: 16,
    description: 'archiveToPmtiles: memory of a job for features and tiles; the rest goes to its folder.',
  }),
  TERRANE_MODEL_DIR: Type.String({ default: '.terrane/models', description: 'Weights and manifests of models.' }),
  TERRANE_MODEL_DOWNLOAD: Type.Boolean({ default: true, description: 'Download weights on first use.' }),
  TERRANE_MODEL_ALLOW_UNPINNED: Type.Boolean({
    default: false,
    description: 'Use model files whose checksums are not pinned.',
  }),
  TERRANE_INFERENCE_MEMORY_MB: Type.Integer({
    default: 4096,
    minimum: 256,
    description: 'Memory that inference may use.',
  }),
  TERRANE_INFERENCE_THREADS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 256,
    description: 'Cores for inference; 0 = all.',
  }),
  TERRANE_INFERENCE_PROVIDERS: Type.String({
    default: 'cpu',
    pattern: `^(${PROVIDERS.join('|')})(,(${PROVIDERS.join('|')}))*$`,
    description: `What computes models, best first, comma-separated: ${PROVIDERS.join(', ')}. The CPU where none is there.`,
  }),
  TERRANE_CRS_FILE: Type.Optional(Type.String({ description: 'JSON file with further CRS definitions.' })),
  HF_TOKEN: Type.Optional(Secret('Token for model downloads.')),
})
export type WorkerConfig = Readonly<Static<typeof Env>>

/**
 * The worker's configuration.
 *
 * @throws INVALID_CONFIG with every problem
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): WorkerConfig {
  return readEnv(Env, env)
}
