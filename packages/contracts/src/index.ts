export { IDEMPOTENCY_HOURS } from './idempotency.ts'
export {
  Capacity,
  Job,
  JobError,
  JobList,
  JobListQuery,
  JobLog,
  JobLogLine,
  JobLogQuery,
  JobProgress,
  TASK_NAMES,
} from './job.ts'
export type { JobLogEvent, JobStatus, TaskName } from './job.ts'
export { identifier } from './identifiers.ts'
export { named, nullable, ref } from './named.ts'
export type { Named } from './named.ts'
export { Problem } from './problem.ts'
export { PageQuery, Schedule, ScheduleChange, ScheduleList, newSchedule } from './schedule.ts'
export { ProjectTarget } from './project-target.ts'
export { ArchiveToPmtiles } from './tasks/archive-to-pmtiles.ts'
export { EXPORT_FORMATS, ExportTable } from './tasks/export-table.ts'
export type { ExportFormat } from './tasks/export-table.ts'
export { CreateGeoEmbeddings, DEFAULT_GEO_MODEL, EmbeddingsResult } from './tasks/create-geo-embeddings.ts'
export { MAX_GEO_SOURCES } from './tasks/geo-sources.ts'
export type { GeoSource } from './tasks/geo-sources.ts'
export { CreateSraiEmbeddings } from './tasks/create-srai-embeddings.ts'
export { ImportEmbeddings } from './tasks/import-embeddings.ts'
export { OSM_TOPICS, OsmImportArea } from './tasks/osm-import-area.ts'
export { OsmUpdateArea } from './tasks/osm-update-area.ts'
export type { FeatureSource, OsmSource } from './tasks/osm-import-area.ts'
export { OvertureImportArea } from './tasks/overture-import-area.ts'
export { Ogr2ogrImport } from './tasks/ogr2ogr-import.ts'
export {
  NewWebhook,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookMade,
} from './webhook.ts'
export { FileFacts, InspectFile } from './inspect.ts'
export { EmbedChip, EmbedText, EmbeddedQuery } from './embed.ts'
export { Place, PlaceQuery } from './place.ts'
export { TASK_EXAMPLES, TASK_RESULTS } from './results.ts'
export type { TaskResults } from './results.ts'
export { JobWarning } from './warnings.ts'
